//! The moving part of a card in the list of sales.

use leptos::prelude::*;

use super::{countdown::countdown, live_sale::LiveSale};
use crate::model::SaleProps;

/// State, countdown and what is left of one sale.
#[island]
pub fn SaleLine(
    /// The sale when the page was rendered.
    sale: SaleProps,
) -> impl IntoView {
    let sale = LiveSale::new(sale);
    #[cfg(feature = "hydrate")]
    sale.wake();
    view! {
        <div class="sale-line" data-phase=move || sale.phase.get().word()>
            <p class="badge">{move || sale.texts.badge(sale.phase.get())}</p>
            {countdown(sale)}
            {stock_bar(sale)}
        </div>
    }
}

/// What is left, as words and as a bar.
pub(super) fn stock_bar(sale: LiveSale) -> impl IntoView {
    view! {
        <p class="stock">
            <span class="left">{move || sale.left()}</span>
            <progress max=sale.initial value=move || sale.left_of_all() aria-hidden="true"></progress>
        </p>
    }
}
