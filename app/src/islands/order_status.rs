//! An order's state in the list of orders.

use leptos::prelude::*;

use crate::{
    model::{Note, OrderProps},
    texts::Lang,
};

/// An order that changes while one looks at it. Cheap to copy.
#[derive(Clone, Copy)]
pub(super) struct LiveOrder {
    pub(super) order: RwSignal<OrderProps>,
    /// The server had accepted it, and knows it no more.
    gone: RwSignal<bool>,
    lang: Lang,
}

impl LiveOrder {
    pub(super) fn new(order: OrderProps, lang: Lang) -> Self {
        Self {
            order: RwSignal::new(order),
            gone: RwSignal::new(false),
            lang,
        }
    }

    /// Follows it, from the first effect on.
    #[cfg(feature = "hydrate")]
    pub(super) fn wake(self) {
        use crate::browser::live::{self, News};
        Effect::new(move |_| {
            live::follow_order(self.order.get_untracked(), move |news| match news {
                News::Order(event) => {
                    let merged = OrderProps::merged(Some(self.order.get_untracked()), (&event).into());
                    self.gone.set(false);
                    if merged != self.order.get_untracked() {
                        self.order.set(merged);
                    }
                }
                _ => self.gone.set(true),
            });
        });
    }

    /// The word that style sheets and tests look for.
    pub(super) fn word(self) -> &'static str {
        if self.gone.get() {
            Note::Gone.word()
        } else {
            self.order.get().state.word()
        }
    }

    /// The state in a word or two.
    pub(super) fn badge(self) -> &'static str {
        let texts = self.lang.shop();
        if self.gone.get() {
            texts.gone
        } else {
            texts.state(self.order.get().state)
        }
    }

    /// What it means for its owner.
    pub(super) fn meaning(self) -> String {
        let texts = self.lang.shop();
        if self.gone.get() {
            texts.note(Note::Gone)
        } else {
            texts.meaning(self.order.get()).to_owned()
        }
    }

    /// What to do next.
    pub(super) fn next(self) -> &'static str {
        self.lang.shop().next(self.order.get().state, self.gone.get())
    }

    /// Whether it can still lead to a voucher that is used.
    pub(super) fn goes_on(self) -> bool {
        self.order.get().holds() && !self.gone.get()
    }
}

/// The state, and what it means.
#[island]
pub fn OrderStatus(
    /// The order when the page was rendered.
    order: OrderProps,
    /// The page's language.
    lang: Lang,
) -> impl IntoView {
    let order = LiveOrder::new(order, lang);
    #[cfg(feature = "hydrate")]
    order.wake();
    view! {
        <div class="order-status" data-state=move || order.word() role="status">
            <p class="badge">{move || order.badge()}</p>
            <p class="meaning">{move || order.meaning()}</p>
        </div>
    }
}
