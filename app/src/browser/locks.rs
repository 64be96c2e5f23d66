//! Web Locks: which of a person's tabs does what is needed only once. Not every browser has them, and none over an
//! unsafe connection.

use js_sys::{Function, Object, Promise, Reflect};
use leptos::{prelude::window, task::spawn_local};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;

/// The browser's locks.
pub(super) struct Locks {
    manager: JsValue,
    request: Function,
}

/// How long to wait for a lock.
pub(super) enum Patience {
    /// Until it is free, or the signal says that it is no longer wanted.
    Until(AbortSignal),
    /// Not at all.
    None,
}

impl Locks {
    /// The locks, where there are any.
    pub(super) fn here() -> Option<Self> {
        let manager = Reflect::get(&window().navigator(), &"locks".into()).ok()?;
        let request = Reflect::get(&manager, &"request".into()).ok()?;
        let request = request.dyn_into().ok()?;
        Some(Self { manager, request })
    }

    /// Calls back with whether the lock was got. It is held until the promise that was called back with is kept.
    pub(super) fn request(
        &self,
        name: &str,
        patience: &Patience,
        then: impl FnOnce(bool) -> JsValue + 'static,
    ) {
        let options = Object::new();
        let (key, value) = match patience {
            Patience::Until(signal) => ("signal", JsValue::from(signal)),
            Patience::None => ("ifAvailable", JsValue::TRUE),
        };
        let _ = Reflect::set(&options, &key.into(), &value);
        let then = Closure::once_into_js(move |lock: JsValue| then(!lock.is_null()));
        let held = self.request.call3(&self.manager, &name.into(), &options, &then);
        if let Ok(held) = held.and_then(JsCast::dyn_into::<Promise>) {
            // Nobody waits for it: this hears of a wait that was given up, so that the console does not.
            spawn_local(async move {
                let _ = JsFuture::from(held).await;
            });
        }
    }
}
