//! The page of one order: how far it has come, when, and what to do next.

use domain::OrderState;
use leptos::prelude::*;

use super::order_status::LiveOrder;
use crate::{
    model::{Moment, OrderProps},
    texts::Lang,
};

/// The steps of an order, as they are made.
#[island]
pub fn OrderSteps(
    /// The order when the page was rendered.
    order: OrderProps,
    /// When it was accepted.
    ordered: Moment,
    /// When the ledger last changed it.
    changed: Option<Moment>,
    /// The page's language.
    lang: Lang,
) -> impl IntoView {
    let texts = lang.shop();
    let order = LiveOrder::new(order, lang);
    let changed = RwSignal::new(changed);
    #[cfg(feature = "hydrate")]
    awake::wake(order, changed, lang);

    let settled = move || match order.order.get().state {
        OrderState::Queued if order.goes_on() => "now",
        OrderState::Confirmed | OrderState::Paid | OrderState::Used => "done",
        _ => "bad",
    };
    // Paid and used orders have been confirmed, and are something more.
    let outcome = move || match order.order.get().state {
        OrderState::Paid | OrderState::Used => texts.state(OrderState::Confirmed),
        _ => order.badge(),
    };
    let last = move || match order.order.get().state {
        state @ (OrderState::Paid | OrderState::Used) => texts.state(state),
        _ => texts.to_use,
    };
    let used = move || match order.order.get().state {
        OrderState::Used => "done",
        OrderState::Paid | OrderState::Confirmed => "now",
        _ => "later",
    };
    let instant = move || changed.get().map(|moment| moment.instant);
    let text = move || changed.get().map(|moment| moment.text).unwrap_or_default();
    view! {
        <section class="panel order-page" data-state=move || order.word()>
            <p class="status" role="status">{move || order.meaning()}</p>
            <ol class="steps">
                <li data-step="done">
                    <span>{texts.accepted}</span>
                    <time datetime=ordered.instant>{ordered.text}</time>
                </li>
                <li data-step=settled aria-current=move || (settled() == "now").then_some("step")>
                    <span>{outcome}</span>
                    <time datetime=instant>{text}</time>
                </li>
                <li data-step=used hidden=move || !order.goes_on()>
                    <span>{last}</span>
                </li>
            </ol>
            <p class="next-step"><strong>{texts.what_next}</strong> " " {move || order.next()}</p>
        </section>
    }
}

#[cfg(feature = "hydrate")]
mod awake {
    //! What only the browser does.

    use domain::OrderState;
    use leptos::{prelude::*, task::spawn_local};

    use super::LiveOrder;
    use crate::{
        browser::{http, zone},
        model::Moment,
        texts::Lang,
    };

    pub(super) fn wake(order: LiveOrder, changed: RwSignal<Option<Moment>>, lang: Lang) {
        order.wake();
        // News tell what has happened, and the order itself tells when.
        Effect::new(move |before: Option<OrderState>| {
            let now = order.order.get();
            if before.is_some_and(|before| before != now.state) {
                spawn_local(async move {
                    let order = http::get(&format!("/api/v1/orders/{}", now.order_id)).await;
                    if let Ok(Some(instant)) = order.map(|order| order?.read::<String>("updated_at")) {
                        let text = zone::local(&instant, lang.tag());
                        changed.set(Some(Moment { instant, text }));
                    }
                });
            }
            now.state
        });
    }
}
