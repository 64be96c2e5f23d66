//! The panel of the voucher page: countdown, stock, the button, and where one's order stands.

use domain::OrderState;
use leptos::{prelude::*, server_fn::ServerFn};

use super::{countdown::countdown, live_sale::LiveSale, sale_line::stock_bar};
use crate::{
    functions::Grab,
    model::{Note, OrderProps, Phase, SaleProps},
};

/// What the shopper's own attempts have come to. Cheap to copy.
#[derive(Clone, Copy)]
struct Attempt {
    order: RwSignal<Option<OrderProps>>,
    note: RwSignal<Option<Note>>,
    sending: RwSignal<bool>,
    lost: RwSignal<bool>,
}

/// The panel. Its form works without and before the island.
#[island]
pub fn GrabPanel(
    /// The sale when the page was rendered.
    sale: SaleProps,
    /// The shopper's order for it, if there is one.
    order: Option<OrderProps>,
    /// Why the last attempt, made without the island, gave nothing.
    note: Option<Note>,
    /// Whether the shopper is known.
    signed_in: bool,
) -> impl IntoView {
    let sale = LiveSale::new(sale);
    let attempt = Attempt {
        order: RwSignal::new(order),
        note: RwSignal::new(note),
        sending: RwSignal::new(false),
        lost: RwSignal::new(false),
    };
    let texts = sale.texts;
    #[cfg(feature = "hydrate")]
    awake::wake(sale, attempt);

    let holds = move || attempt.order.get().is_some_and(OrderProps::holds);
    let can_grab = move || sale.phase.get() == Phase::Open && !attempt.sending.get() && !holds();
    let button = move || {
        if attempt
            .order
            .get()
            .is_some_and(|order| order.state == OrderState::Queued)
        {
            texts.state(OrderState::Queued)
        } else if holds() {
            texts.yours
        } else if attempt.sending.get() {
            texts.grabbing
        } else {
            texts.button(sale.phase.get(), signed_in)
        }
    };
    // An order is told first, then what became of the last attempt, then what the sale is.
    let status = move || match (attempt.order.get(), attempt.note.get()) {
        (Some(order), None) if order.holds() => texts.meaning(order).to_owned(),
        (_, Some(note)) => texts.note(note),
        (Some(order), None) => texts.meaning(order).to_owned(),
        (None, None) => texts.phase(sale.phase.get()).to_owned(),
    };
    let order_id = move || {
        attempt
            .order
            .get()
            .map(|order| order.order_id.to_string())
            .unwrap_or_default()
    };
    let no_order = move || attempt.order.with(Option::is_none);
    let voucher_id = sale.voucher_id.to_string();
    let to_login = format!("/login?next=/vouchers/{voucher_id}");

    view! {
        <section
            class="panel"
            data-phase=move || sale.phase.get().word()
            data-order=move || attempt.order.get().map(|order| order.state.word())
            data-note=move || attempt.note.get().map(Note::word)
        >
            {countdown(sale)}
            {stock_bar(sale)}
            <form
                method="post"
                action=Grab::PATH
                on:submit=move |event| {
                    #[cfg(feature = "hydrate")]
                    awake::submit(&event, sale, attempt, signed_in, can_grab);
                    #[cfg(not(feature = "hydrate"))]
                    let _ = event;
                }
            >
                <input type="hidden" name="voucher_id" value=voucher_id/>
                // Never `disabled`: that would take the focus away, and without the island it could not open.
                <button
                    type="submit"
                    class="grab"
                    aria-disabled=move || if can_grab() { "false" } else { "true" }
                    aria-busy=move || if attempt.sending.get() { "true" } else { "false" }
                >
                    {button}
                </button>
            </form>
            <p class="status" role="status">{status}</p>
            <p class="next" hidden=no_order>
                {texts.order} " " <code class="order-id">{order_id}</code> " "
                <a href="/orders">{texts.to_orders}</a>
            </p>
            <p class="next" hidden=move || attempt.note.get() != Some(Note::SignIn)>
                <a href=to_login>{texts.to_login}</a>
            </p>
            <p class="offline" hidden=move || !attempt.lost.get()>{texts.reconnecting}</p>
        </section>
    }
}

#[cfg(feature = "hydrate")]
mod awake {
    //! What only the browser does.

    use domain::{GrabOutcome, LiveEvent, OrderState};
    use leptos::{ev::SubmitEvent, prelude::*, server_fn::ServerFn, task::spawn_local};

    use super::{Attempt, LiveSale};
    use crate::{
        browser::{clock, http, live, timer},
        functions::{Grab, Refusal},
        model::{Note, OrderProps, Phase},
    };

    /// Attempts when no answer arrives, or when our clock is a little ahead of the sale's.
    const TRIES: u32 = 4;
    /// The pause before another attempt.
    const PAUSE_MS: u32 = 250;

    pub(super) fn wake(sale: LiveSale, attempt: Attempt) {
        sale.wake();
        Effect::new(move |_| {
            live::of_voucher(sale.voucher_id, move |lost| attempt.lost.set(lost));
            live::follow(move |event| {
                if let LiveEvent::Order(news) = event
                    && news.voucher_id == sale.voucher_id
                {
                    hear(
                        attempt,
                        OrderProps {
                            order_id: news.order_id,
                            state: news.state,
                            reason: news.reason,
                        },
                    );
                }
            });
        });
        // What was said about an attempt is stale once the sale itself has turned.
        Effect::new(move |before: Option<Phase>| {
            let phase = sale.phase.get();
            if before.is_some_and(|before| before != phase) && phase == Phase::Open {
                attempt.note.set(None);
            }
            phase
        });
    }

    fn hear(attempt: Attempt, news: OrderProps) {
        let known = attempt.order.get_untracked();
        let merged = OrderProps::merged(known, news);
        if known != Some(merged) {
            attempt.note.set(None);
            attempt.order.set(Some(merged));
        }
    }

    pub(super) fn submit(
        event: &SubmitEvent,
        sale: LiveSale,
        attempt: Attempt,
        signed_in: bool,
        can_grab: impl Fn() -> bool,
    ) {
        if !untrack(can_grab) {
            event.prevent_default();
        } else if signed_in {
            event.prevent_default();
            attempt.note.set(None);
            attempt.sending.set(true);
            spawn_local(async move {
                grab(sale, attempt).await;
                attempt.sending.set(false);
            });
        }
        // A stranger's form goes its own way, to the login and back.
    }

    async fn grab(sale: LiveSale, attempt: Attempt) {
        let body = format!("voucher_id={}", sale.voucher_id);
        let mut note = Note::Lost;
        for tried in 0..TRIES {
            if tried > 0 {
                timer::pause(PAUSE_MS << tried).await;
            }
            note = match http::post::<GrabOutcome, Refusal>(Grab::PATH, &body).await {
                Ok(Ok(GrabOutcome::Queued { order_id })) => {
                    let order = OrderProps {
                        order_id,
                        state: OrderState::Queued,
                        reason: None,
                    };
                    return live::watch(sale.voucher_id, order, move |news| hear(attempt, news));
                }
                Ok(Ok(GrabOutcome::AlreadyOrdered { order_id })) => {
                    let order = OrderProps {
                        order_id,
                        state: OrderState::Queued,
                        reason: None,
                    };
                    hear(attempt, order);
                    return live::look_up(sale.voucher_id, order);
                }
                // Our clock is ahead of the sale's: it can only be a moment.
                Ok(Ok(GrabOutcome::NotStarted)) if sale.phase.get_untracked() == Phase::Open => {
                    clock::resample();
                    Note::NotStarted
                }
                Ok(Ok(refusal)) => {
                    note = Note::of(refusal).unwrap_or(Note::Trouble);
                    break;
                }
                Ok(Err(Refusal::SignIn)) => {
                    note = Note::SignIn;
                    break;
                }
                Ok(Err(_)) => Note::Trouble,
                // The reply is lost, not the attempt: the same call again tells.
                Err(http::NoAnswer) => Note::Lost,
            };
        }
        attempt.note.set(Some(note));
    }
}
