//! Waiting, with and without a grain of chance.

use std::time::Duration;

use leptos::prelude::set_timeout;
use wasm_bindgen_futures::JsFuture;

/// Calls back once.
pub(crate) fn after(millis: u32, then: impl FnOnce() + 'static) {
    set_timeout(then, Duration::from_millis(millis.into()));
}

/// Waits.
pub(crate) async fn pause(millis: u32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        after(millis, move || {
            let _ = resolve.call0(&wasm_bindgen::JsValue::NULL);
        });
    });
    let _ = JsFuture::from(promise).await;
}

/// From half to one and a half times as long: a crowd must not come back in one moment.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small positive number of milliseconds"
)]
pub(crate) fn jittered(millis: u32) -> u32 {
    (f64::from(millis) * (0.5 + js_sys::Math::random())) as u32
}
