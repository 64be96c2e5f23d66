//! The server's clock, seen from the browser. The device's own clock is never asked: `performance.now()` counts on
//! whatever the person does to the time of day.

use std::cell::Cell;

use leptos::{prelude::*, task::spawn_local};
use wasm_bindgen::{JsCast, closure::Closure};

use super::{http, timer};

/// How many times the server is asked at first.
const SAMPLES: u32 = 3;
/// A larger difference than this is not the network's: the device has slept, or a sample was bad.
pub(crate) const TRUSTED_MS: i64 = 1500;
/// Close to the opening the countdown is looked at this often.
const CLOSE_STEP_MS: i64 = 100;
/// How close that is.
const CLOSE_MS: i64 = 10_000;

thread_local! {
    /// Server milliseconds minus `performance.now()`, and the round trip of the sample it comes from.
    static OFFSET: Cell<Option<(i64, i64)>> = const { Cell::new(None) };
    static SAMPLING: Cell<bool> = const { Cell::new(false) };
}

/// Milliseconds since the page was opened, whatever happens to the time of day.
#[expect(
    clippy::cast_possible_truncation,
    reason = "milliseconds since the page was opened"
)]
pub(super) fn local_ms() -> i64 {
    window()
        .performance()
        .map_or(0, |performance| performance.now() as i64)
}

/// The server's clock now.
pub(crate) fn now() -> Option<i64> {
    OFFSET.get().map(|(offset, _)| local_ms() + offset)
}

/// Takes the time at which the page was rendered as a first estimate, and asks for better ones.
pub(crate) fn start(rendered_ms: i64) {
    if OFFSET.get().is_none() {
        let arrived = arrival_ms().unwrap_or_else(local_ms);
        OFFSET.set(Some((rendered_ms - arrived, i64::MAX)));
        resample();
        on_return(resample);
    }
}

/// When the first byte of this page arrived.
#[expect(
    clippy::cast_possible_truncation,
    reason = "milliseconds since the page was opened"
)]
fn arrival_ms() -> Option<i64> {
    let entries = window().performance()?.get_entries_by_type("navigation");
    let entry: web_sys::PerformanceNavigationTiming = entries.get(0).dyn_into().ok()?;
    Some(entry.response_start() as i64)
}

/// Asks the server for the time, anew.
pub(crate) fn resample() {
    if SAMPLING.replace(true) {
        return;
    }
    spawn_local(async {
        let mut best: Option<(i64, i64)> = None;
        for _ in 0..SAMPLES {
            let asked = local_ms();
            let answer = http::get("/api/v1/time").await;
            if let Ok(Some(now_ms)) = answer.map(|time| time?.number("now_ms")) {
                let trip = local_ms() - asked;
                if best.is_none_or(|(_, shortest)| trip < shortest) {
                    best = Some((now_ms + trip / 2 - local_ms(), trip));
                }
            }
        }
        if best.is_some() {
            OFFSET.set(best);
        }
        SAMPLING.set(false);
    });
}

/// The stream told the time: it can only be late, so an earlier clock of ours was wrong, and a much later one too.
pub(crate) fn hear(now_ms: i64) {
    if let Some((offset, _)) = OFFSET.get() {
        let ahead = now_ms - (local_ms() + offset);
        if !(-TRUSTED_MS..=TRUSTED_MS).contains(&ahead) {
            resample();
        }
    }
}

/// Calls back with the server's clock whenever the countdown to the next of the two instants turns, and more often
/// close to it.
pub(crate) fn tick(turns: [i64; 2], each: impl Fn(i64) + Clone + 'static) {
    let Some(now) = now() else { return };
    each(now);
    let target = turns.into_iter().find(|turn| *turn > now).unwrap_or(now);
    let rest = (target - now).rem_euclid(1000);
    let step = if target - now < CLOSE_MS {
        rest.min(CLOSE_STEP_MS)
    } else {
        rest
    };
    // The last turn is behind us, or this one is exactly due.
    let step = if step == 0 { 1000 } else { step };
    timer::after(u32::try_from(step).unwrap_or(1000), move || tick(turns, each));
}

/// Calls back whenever the page is looked at again: timers were slowed down, or the device slept.
fn on_return(then: impl Fn() + 'static) {
    let seen = Closure::<dyn Fn()>::new(move || {
        if document().visibility_state() == web_sys::VisibilityState::Visible {
            then();
        }
    });
    let _ = document().add_event_listener_with_callback("visibilitychange", seen.as_ref().unchecked_ref());
    seen.forget();
}
