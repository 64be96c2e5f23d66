//! An order's state in the list of orders.

use domain::VoucherId;
use leptos::prelude::*;

use crate::{model::OrderProps, texts::Lang};

/// The state, and what it means.
#[island]
pub fn OrderStatus(
    /// What was bought.
    voucher_id: VoucherId,
    /// The order when the page was rendered.
    order: OrderProps,
    /// The page's language.
    lang: Lang,
) -> impl IntoView {
    let texts = lang.shop();
    let order = RwSignal::new(order);
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        crate::browser::live::follow_order(voucher_id, order.get_untracked(), move |news| {
            let known = order.get_untracked();
            if news.order_id == known.order_id {
                order.set(OrderProps::merged(Some(known), news));
            }
        });
    });
    #[cfg(not(feature = "hydrate"))]
    let _ = voucher_id;
    view! {
        <div class="order-status" data-state=move || order.get().state.word() role="status">
            <p class="badge">{move || texts.state(order.get().state)}</p>
            <p class="meaning">{move || texts.meaning(order.get())}</p>
        </div>
    }
}
