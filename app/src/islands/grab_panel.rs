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
    };
    let texts = sale.texts;
    #[cfg(feature = "hydrate")]
    awake::wake(sale, attempt);

    let holds = move || attempt.order.get().is_some_and(OrderProps::holds);
    let waits = move || attempt.note.get().is_some_and(|note| note.wait().is_some());
    let can_grab = move || sale.phase.get() == Phase::Open && !attempt.sending.get() && !holds() && !waits();
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
        let order = attempt.order.get();
        order.map(|order| order.order_id.to_string()).unwrap_or_default()
    };
    let to_order = move || format!("/orders/{}", order_id());
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
                <a href=to_order>{texts.to_order}</a> " "
                <a href="/orders">{texts.to_orders}</a>
            </p>
            <p class="next" hidden=move || attempt.note.get() != Some(Note::SignIn)>
                <a href=to_login>{texts.to_login}</a>
            </p>
        </section>
    }
}

#[cfg(feature = "hydrate")]
mod awake {
    //! What only the browser does.

    use domain::{GrabOutcome, OrderId, OrderState};
    use leptos::{ev::SubmitEvent, prelude::*, server_fn::ServerFn, task::spawn_local};

    use super::{Attempt, LiveSale};
    use crate::{
        browser::{
            clock, http,
            json::Json,
            live::{self, News},
            notices, timer,
        },
        functions::{Grab, Refusal},
        model::{Note, OrderProps, Phase, outcome},
    };

    /// Attempts when no answer arrives, or when our clock is a little ahead of the sale's.
    const TRIES: u32 = 4;
    /// The pause before another attempt.
    const PAUSE_MS: u32 = 250;

    pub(super) fn wake(sale: LiveSale, attempt: Attempt) {
        sale.wake();
        if let Some(note) = attempt.note.get_untracked() {
            tell(attempt, note);
        }
        Effect::new(move |_| {
            live::of_voucher(sale.voucher_id);
            live::follow(move |news| match news {
                News::Order(event) if event.voucher_id == sale.voucher_id => {
                    hear(attempt, event.into());
                }
                News::Gone(id)
                    if attempt
                        .order
                        .get_untracked()
                        .is_some_and(|order| order.order_id == *id) =>
                {
                    attempt.order.set(None);
                    attempt.note.set(Some(Note::Gone));
                }
                _ => {}
            });
            if let Some(order) = attempt.order.get_untracked()
                && order.state == OrderState::Queued
            {
                live::await_mine(sale.voucher_id, order.order_id, false);
            }
        });
        // What was said about an attempt is stale once the sale itself has turned.
        Effect::new(move |before: Option<Phase>| {
            let phase = sale.phase.get();
            let told = attempt.note.get_untracked();
            if before.is_some_and(|before| before != phase)
                && phase == Phase::Open
                && told != Some(Note::Gone)
            {
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

    /// Says why an attempt gave nothing. A wait is over by itself.
    fn tell(attempt: Attempt, note: Note) {
        attempt.note.set(Some(note));
        if let Some(seconds) = note.wait() {
            let millis = u32::try_from(seconds * 1000).unwrap_or(u32::MAX);
            timer::after(millis, move || {
                if attempt.note.get_untracked() == Some(note) {
                    attempt.note.set(None);
                }
            });
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
            let answer = http::post(Grab::PATH, &body).await;
            note = match answer.map(|answer| answer.map(read_outcome).map_err(read_refusal)) {
                Ok(Ok(Some(GrabOutcome::Queued { order_id }))) => {
                    return hold(sale, attempt, order_id, false);
                }
                Ok(Ok(Some(GrabOutcome::AlreadyOrdered { order_id }))) => {
                    return hold(sale, attempt, order_id, true);
                }
                // Our clock is ahead of the sale's: it can only be a moment.
                Ok(Ok(Some(GrabOutcome::NotStarted))) if sale.phase.get_untracked() == Phase::Open => {
                    clock::resample();
                    Note::NotStarted
                }
                Ok(Ok(refusal)) => {
                    note = refusal.and_then(Note::of).unwrap_or(Note::Trouble);
                    break;
                }
                Ok(Err(Refusal::SignIn)) => {
                    note = Note::SignIn;
                    break;
                }
                // The function has changed under us: a form of a newer page works.
                Ok(Err(Refusal::Invalid)) | Err(http::NoAnswer::Stale) => {
                    notices::show(".stale", true);
                    note = Note::Trouble;
                    break;
                }
                Err(http::NoAnswer::SlowDown(seconds)) => {
                    note = Note::SlowDown(seconds);
                    break;
                }
                Ok(Err(_)) => Note::Trouble,
                Err(http::NoAnswer::Busy) => Note::Busy,
                // The reply is lost, not the attempt: the same call again tells.
                Err(http::NoAnswer::Lost) => Note::Lost,
            };
        }
        tell(attempt, note);
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
    fn read_outcome(answer: Json) -> Option<GrabOutcome> {
        let wait_ms = answer
            .number("retry_after_ms")
            .and_then(|wait| wait.try_into().ok());
        outcome(
            &answer.read::<String>("outcome")?,
            answer.read("order_id"),
            wait_ms,
        )
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
    fn read_refusal(answer: Json) -> Refusal {
        let word = answer.text().unwrap_or_default();
        Refusal::from_word(&word).unwrap_or(Refusal::Trouble)
    }

    /// There is an order. One that was made before may have settled long ago: that is asked for at once.
    fn hold(sale: LiveSale, attempt: Attempt, order_id: OrderId, made_before: bool) {
        hear(
            attempt,
            OrderProps {
                order_id,
                state: OrderState::Queued,
                reason: None,
            },
        );
        live::await_mine(sale.voucher_id, order_id, made_before);
    }
}
