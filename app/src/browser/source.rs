//! One stream of server-sent events a tab, with our own way of coming back: a wait that grows and has a grain of chance
//! in it, so that a restart does not bring a crowd back in one moment. A hidden tab holds no stream.

use std::{cell::RefCell, rc::Rc};

use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{Event, EventSource, MessageEvent, VisibilityState};

use super::timer;

/// The first wait.
const FIRST_WAIT_MS: u32 = 500;
/// No wait is longer than about this.
const LONGEST_WAIT_MS: u32 = 10_000;
/// The events that the server sends.
const NAMES: [&str; 4] = ["stock", "order", "clock", "bye"];

/// What the stream's owner is told.
pub(super) trait Listener {
    /// An event's name and data. A wait is returned if the server asked to come back later.
    fn heard(&self, name: &str, data: &str) -> Option<u32>;
    /// The stream is there, or is lost.
    fn connected(&self, open: bool);
    /// The stream can't be had now: ask for the state in another way.
    fn ask(&self);
}

struct Source<L> {
    url: String,
    listener: L,
    stream: Option<EventSource>,
    on_event: Option<Closure<dyn Fn(Event)>>,
    wait_ms: u32,
    /// Counts connections, so that a timer of an earlier one does nothing.
    turn: u32,
}

type Shared<L> = Rc<RefCell<Source<L>>>;

/// Opens the stream, for as long as the page lives.
pub(super) fn open(url: String, listener: impl Listener + 'static) {
    let source = Rc::new(RefCell::new(Source {
        url,
        listener,
        stream: None,
        on_event: None,
        wait_ms: FIRST_WAIT_MS,
        turn: 0,
    }));
    let heard = source.clone();
    source.borrow_mut().on_event = Some(Closure::new(move |event: Event| hear(&heard, &event)));
    for (target, name) in [
        (JsValue::from(document()), "visibilitychange"),
        (JsValue::from(window()), "pagehide"),
        (JsValue::from(window()), "pageshow"),
    ] {
        let source = source.clone();
        let turned = Closure::<dyn Fn(Event)>::new(move |event: Event| {
            if event.type_() == "pagehide" || hidden() {
                close(&source);
            } else if source.borrow().stream.is_none() {
                connect(&source);
            }
        });
        let target: web_sys::EventTarget = target.unchecked_into();
        let _ = target.add_event_listener_with_callback(name, turned.as_ref().unchecked_ref());
        turned.forget();
    }
    connect(&source);
}

/// Whether nobody can see the page.
pub(super) fn hidden() -> bool {
    document().visibility_state() == VisibilityState::Hidden
}

fn connect<L: Listener + 'static>(source: &Shared<L>) {
    close(source);
    let mut this = source.borrow_mut();
    let Ok(stream) = EventSource::new(&this.url) else {
        return;
    };
    if let Some(on_event) = &this.on_event {
        let on_event = on_event.as_ref().unchecked_ref();
        for name in NAMES.into_iter().chain(["open", "error"]) {
            let _ = stream.add_event_listener_with_callback(name, on_event);
        }
    }
    this.stream = Some(stream);
}

fn close<L>(source: &Shared<L>) {
    let mut this = source.borrow_mut();
    this.turn += 1;
    if let Some(stream) = this.stream.take() {
        stream.close();
    }
}

fn hear<L: Listener + 'static>(source: &Shared<L>, event: &Event) {
    let name = event.type_();
    let wait = match name.as_str() {
        "open" => {
            source.borrow().listener.connected(true);
            None
        }
        "error" => {
            let this = &mut *source.borrow_mut();
            let wait = this.wait_ms;
            this.wait_ms = (wait * 2).min(LONGEST_WAIT_MS);
            this.listener.connected(false);
            Some(wait)
        }
        _ => {
            // Only what is heard proves the stream: one that opens and ends at once must not be asked for again and again.
            source.borrow_mut().wait_ms = FIRST_WAIT_MS;
            let data = event
                .dyn_ref::<MessageEvent>()
                .and_then(|event| event.data().as_string());
            source.borrow().listener.heard(&name, &data.unwrap_or_default())
        }
    };
    if let Some(wait) = wait {
        // The browser would come back by itself, but without chance in its wait, and not after every failure.
        close(source);
        let (source, turn) = (source.clone(), source.borrow().turn);
        timer::after(timer::jittered(wait), move || {
            if source.borrow().turn == turn {
                source.borrow().listener.ask();
                connect(&source);
            }
        });
    }
}
