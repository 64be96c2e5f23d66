//! A sale that changes while one looks at it.

use domain::VoucherId;
use leptos::prelude::*;

use crate::{
    model::{Phase, SaleProps},
    texts::Shop,
};

/// A sale's signals. Cheap to copy.
#[derive(Clone, Copy)]
pub(crate) struct LiveSale {
    pub(crate) voucher_id: VoucherId,
    pub(crate) initial: i64,
    pub(crate) texts: &'static Shop,
    begins_ms: i64,
    ends_ms: i64,
    /// The server's clock.
    now: RwSignal<i64>,
    pub(crate) stock: RwSignal<Option<i64>>,
    #[cfg(feature = "hydrate")]
    state: RwSignal<domain::SaleState>,
    /// Nothing is left, and some may come back.
    #[cfg(feature = "hydrate")]
    held: RwSignal<bool>,
    pub(crate) phase: Memo<Phase>,
}

impl LiveSale {
    pub(crate) fn new(props: SaleProps) -> Self {
        let (begins_ms, ends_ms) = (props.begins_ms, props.ends_ms);
        let now = RwSignal::new(props.now_ms);
        let stock = RwSignal::new(props.stock);
        let state = RwSignal::new(props.state);
        let held = RwSignal::new(props.held);
        let phase = Memo::new(move |_| {
            Phase::at(
                now.get(),
                begins_ms,
                ends_ms,
                state.get(),
                stock.get(),
                held.get(),
            )
        });
        Self {
            voucher_id: props.voucher_id,
            initial: props.initial,
            texts: props.lang.shop(),
            begins_ms,
            ends_ms,
            now,
            stock,
            #[cfg(feature = "hydrate")]
            state,
            #[cfg(feature = "hydrate")]
            held,
            phase,
        }
    }

    /// Milliseconds to the next turn of the sale; nothing when it is over.
    pub(crate) fn remaining(self) -> i64 {
        match self.phase.get() {
            Phase::Ended => 0,
            _ if self.now.get() < self.begins_ms => self.begins_ms - self.now.get(),
            _ => self.ends_ms - self.now.get(),
        }
    }

    /// What the countdown counts.
    pub(crate) fn counted(self) -> &'static str {
        match self.phase.get() {
            Phase::Ended => self.texts.time_is_up,
            _ if self.now.get() < self.begins_ms => self.texts.opens_in,
            _ => self.texts.ends_in,
        }
    }

    /// What is left, in words.
    pub(crate) fn left(self) -> String {
        self.stock
            .get()
            .map(|units| self.texts.left(units))
            .unwrap_or_default()
    }

    /// What is left, for a bar.
    pub(crate) fn left_of_all(self) -> String {
        self.stock.get().unwrap_or(0).clamp(0, self.initial).to_string()
    }

    /// Follows the server's clock and the stream, from the first effect on.
    #[cfg(feature = "hydrate")]
    pub(crate) fn wake(self) {
        use crate::browser::{clock, live};
        let rendered_ms = self.now.get_untracked();
        Effect::new(move |_| {
            clock::start(rendered_ms);
            clock::tick([self.begins_ms, self.ends_ms], move |now| {
                // No jump back: a better estimate of the offset may be a little behind the one before.
                let shown = self.now.get_untracked();
                if now > shown || now < shown - clock::TRUSTED_MS {
                    self.now.set(now);
                }
            });
            live::follow(move |event| {
                if let live::News::Stock(news) = event
                    && news.voucher_id == self.voucher_id
                {
                    self.stock.set(news.stock);
                    self.state.set(news.state);
                    self.held.set(news.held);
                }
            });
        });
    }
}
