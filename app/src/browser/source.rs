//! One stream of server-sent events, with our own way of coming back: a wait that grows and has a grain of chance in it,
//! so that a restart does not bring a crowd back in one moment.

use std::{cell::RefCell, rc::Rc};

use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{Event, EventSource, MessageEvent};

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
    /// Somebody else holds the stream and has told the state before we listened: ask for all of it, once.
    fn catch_up(&self);
}

struct Inner<L> {
    url: String,
    listener: Rc<L>,
    stream: Option<EventSource>,
    on_event: Option<Closure<dyn Fn(Event)>>,
    wait_ms: u32,
    /// Counts connections, so that a timer of an earlier one does nothing.
    turn: u32,
}

/// The stream. Cheap to copy.
pub(super) struct Source<L>(Rc<RefCell<Inner<L>>>);

impl<L> Clone for Source<L> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<L: Listener + 'static> Source<L> {
    /// A stream that is not yet asked for.
    pub(super) fn new(url: String, listener: Rc<L>) -> Self {
        let source = Self(Rc::new(RefCell::new(Inner {
            url,
            listener,
            stream: None,
            on_event: None,
            wait_ms: FIRST_WAIT_MS,
            turn: 0,
        })));
        let heard = source.clone();
        source.0.borrow_mut().on_event = Some(Closure::new(move |event: Event| heard.hear(&event)));
        source
    }

    /// Asks for the stream, anew if it is there.
    pub(super) fn connect(&self) {
        self.close();
        let mut this = self.0.borrow_mut();
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

    /// Gives the stream up, and does not come back.
    pub(super) fn close(&self) {
        let mut this = self.0.borrow_mut();
        this.turn += 1;
        if let Some(stream) = this.stream.take() {
            stream.close();
        }
    }

    fn hear(&self, event: &Event) {
        let listener = self.0.borrow().listener.clone();
        let name = event.type_();
        let wait = match name.as_str() {
            "open" => {
                listener.connected(true);
                None
            }
            "error" => {
                listener.connected(false);
                let this = &mut *self.0.borrow_mut();
                let wait = this.wait_ms;
                this.wait_ms = (wait * 2).min(LONGEST_WAIT_MS);
                Some(wait)
            }
            _ => {
                // Only what is heard proves the stream: one that opens and ends at once is not asked for again and again.
                self.0.borrow_mut().wait_ms = FIRST_WAIT_MS;
                let data = event
                    .dyn_ref::<MessageEvent>()
                    .and_then(|event| event.data().as_string());
                listener.heard(&name, &data.unwrap_or_default())
            }
        };
        if let Some(wait) = wait {
            self.come_back(wait);
        }
    }

    /// The browser would come back by itself, but without chance in its wait, and not after every failure.
    fn come_back(&self, wait: u32) {
        self.close();
        let (source, turn) = (self.clone(), self.0.borrow().turn);
        timer::after(timer::jittered(wait), move || {
            let listener = source.0.borrow().listener.clone();
            if source.0.borrow().turn == turn {
                listener.ask();
                source.connect();
            }
        });
    }
}
