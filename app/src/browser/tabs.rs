//! One stream for all of a person's tabs that look at the same thing: over HTTP/1.1 a browser has six connections for a
//! site, and each stream keeps one. The tab that holds the lock has the stream and passes on what it hears; the next in
//! the queue takes over when it goes. A hidden tab neither holds nor waits. Where there are no locks, each visible tab
//! has a stream of its own.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{AbortController, BroadcastChannel, Event, EventTarget, MessageEvent, VisibilityState};

use super::{
    clock,
    locks::{Locks, Patience},
    source::{Listener, Source},
    timer,
};

/// Streams of one browser, however many different pages are open: two connections stay free for everything else.
const PLACES: u32 = 4;
/// So soon whoever leads has said something, or the lock was free.
const FIRST_WORD_MS: u32 = 400;
/// The server says something every 15 seconds: after this long nothing comes any more.
const SILENT_MS: i64 = 20_000;
/// How often that is looked at; and how often the state is asked for while there is silence.
const LOOK_MS: u32 = 5000;

struct Tabs<L> {
    name: String,
    listener: Rc<L>,
    source: Source<Relay<L>>,
    channel: Rc<Option<BroadcastChannel>>,
    locks: Option<Locks>,
    /// Gives the lock back.
    release: RefCell<Option<js_sys::Function>>,
    /// Leaves the queue for the lock.
    waiting: RefCell<Option<AbortController>>,
    /// Whether the stream is ours to hold, and whether it is.
    leads: Cell<bool>,
    has_place: Cell<bool>,
    joined: Cell<bool>,
    heard_ms: Rc<Cell<i64>>,
}

/// Hears the stream, and passes it on to the other tabs.
struct Relay<L> {
    listener: Rc<L>,
    channel: Rc<Option<BroadcastChannel>>,
    heard_ms: Rc<Cell<i64>>,
}

impl<L> Relay<L> {
    fn pass_on(&self, name: &str, data: &str) {
        self.heard_ms.set(clock::local_ms());
        if let Some(channel) = &*self.channel {
            let _ = channel.post_message(&format!("{name}\n{data}").into());
        }
    }
}

impl<L: Listener> Listener for Relay<L> {
    fn heard(&self, name: &str, data: &str) -> Option<u32> {
        self.pass_on(name, data);
        self.listener.heard(name, data)
    }

    fn connected(&self, open: bool) {
        self.pass_on(if open { "open" } else { "error" }, "");
        self.listener.connected(open);
    }

    fn ask(&self) {
        self.listener.ask();
    }

    fn catch_up(&self) {
        self.listener.catch_up();
    }
}

/// Hears the stream for as long as the page lives. `who` keeps the tabs of different accounts apart.
pub(super) fn open(who: &str, url: String, listener: impl Listener + 'static) {
    let name = format!("{who} {url}");
    let listener = Rc::new(listener);
    let heard_ms = Rc::new(Cell::new(clock::local_ms()));
    let locks = Locks::here();
    let channel = locks.as_ref().and_then(|_| BroadcastChannel::new(&name).ok());
    let channel = Rc::new(channel);
    let relay = Relay {
        listener: listener.clone(),
        channel: channel.clone(),
        heard_ms: heard_ms.clone(),
    };
    let tabs = Rc::new(Tabs {
        name,
        source: Source::new(url, Rc::new(relay)),
        listener,
        // Without the channel a lock would leave the other tabs deaf.
        locks: locks.filter(|_| channel.is_some()),
        channel,
        release: RefCell::default(),
        waiting: RefCell::default(),
        leads: Cell::default(),
        has_place: Cell::default(),
        joined: Cell::default(),
        heard_ms,
    });
    listen(&tabs);
    // It may have gone before anybody listened.
    if !window().navigator().on_line() {
        tabs.listener.connected(false);
    }
    if !hidden() {
        join(&tabs);
    }
    watch(tabs);
}

/// Whether nobody can see the page.
pub(super) fn hidden() -> bool {
    document().visibility_state() == VisibilityState::Hidden
}

fn listen<L: Listener + 'static>(tabs: &Rc<Tabs<L>>) {
    let window = JsValue::from(window());
    let mut targets = vec![
        (JsValue::from(document()), "visibilitychange"),
        (window.clone(), "pagehide"),
        (window.clone(), "pageshow"),
        (window.clone(), "offline"),
        (window, "online"),
    ];
    if let Some(channel) = &*tabs.channel {
        targets.push((channel.into(), "message"));
    }
    let tabs = tabs.clone();
    let turned = Closure::<dyn Fn(Event)>::new(move |event: Event| turn(&tabs, &event));
    for (target, name) in targets {
        let target: EventTarget = target.unchecked_into();
        let _ = target.add_event_listener_with_callback(name, turned.as_ref().unchecked_ref());
    }
    turned.forget();
}

fn turn<L: Listener + 'static>(tabs: &Rc<Tabs<L>>, event: &Event) {
    match event.type_().as_str() {
        "message" => {
            let text = event
                .dyn_ref::<MessageEvent>()
                .and_then(|event| event.data().as_string());
            if let (false, Some((name, data))) =
                (hidden(), text.as_deref().and_then(|text| text.split_once('\n')))
            {
                overhear(tabs, name, data);
            }
        }
        "offline" => tabs.listener.connected(false),
        "online" if tabs.has_place.get() => tabs.source.connect(),
        "online" => {
            // Without a stream nothing else would say so.
            tabs.listener.connected(true);
            tabs.listener.ask();
        }
        "pagehide" => leave(tabs),
        _ if hidden() => leave(tabs),
        _ => join(tabs),
    }
}

/// What the tab that has the stream passes on.
fn overhear<L: Listener>(tabs: &Tabs<L>, name: &str, data: &str) {
    tabs.heard_ms.set(clock::local_ms());
    match name {
        "open" => tabs.listener.connected(true),
        "error" => {
            tabs.listener.connected(false);
            tabs.listener.ask();
        }
        _ => {
            let _ = tabs.listener.heard(name, data);
        }
    }
}

fn join<L: Listener + 'static>(tabs: &Rc<Tabs<L>>) {
    if tabs.joined.replace(true) {
        return;
    }
    tabs.heard_ms.set(clock::local_ms());
    let (Some(locks), Ok(queue)) = (&tabs.locks, AbortController::new()) else {
        tabs.has_place.set(true);
        return tabs.source.connect();
    };
    let patience = Patience::Until(queue.signal());
    *tabs.waiting.borrow_mut() = Some(queue);
    let leader = tabs.clone();
    locks.request(&tabs.name, &patience, move |_| {
        if !leader.joined.get() {
            return JsValue::UNDEFINED;
        }
        let mut release = None;
        let held = js_sys::Promise::new(&mut |keep, _| release = Some(keep));
        *leader.release.borrow_mut() = release;
        leader.leads.set(true);
        let held = JsValue::from(held);
        take_place(&leader, held.clone(), 0);
        held
    });
    // Another tab has the stream and may be silent for a while: the state first, then what it passes on.
    let tabs = tabs.clone();
    timer::after(FIRST_WORD_MS, move || {
        if tabs.joined.get() && !tabs.leads.get() {
            tabs.listener.catch_up();
        }
    });
}

/// Takes the first free place for a stream, for as long as this tab leads. If there is none, the state is asked for.
fn take_place<L: Listener + 'static>(tabs: &Rc<Tabs<L>>, held: JsValue, place: u32) {
    if !tabs.leads.get() || tabs.has_place.get() {
        return;
    }
    if place == PLACES {
        return tabs.listener.ask();
    }
    let Some(locks) = &tabs.locks else { return };
    let taker = tabs.clone();
    locks.request(&format!("place {place}"), &Patience::None, move |free| {
        if !free {
            take_place(&taker, held, place + 1);
        } else if taker.leads.get() {
            taker.has_place.set(true);
            taker.source.connect();
            return held;
        }
        JsValue::UNDEFINED
    });
}

fn leave<L: Listener + 'static>(tabs: &Tabs<L>) {
    tabs.joined.set(false);
    tabs.leads.set(false);
    tabs.has_place.set(false);
    tabs.source.close();
    if let Some(release) = tabs.release.take() {
        let _ = release.call0(&JsValue::NULL);
    }
    if let Some(queue) = tabs.waiting.take() {
        queue.abort();
    }
}

/// Looks now and then whether anything is heard, and asks if not.
fn watch<L: Listener + 'static>(tabs: Rc<Tabs<L>>) {
    timer::after(timer::jittered(LOOK_MS), move || {
        if tabs.joined.get() && clock::local_ms() - tabs.heard_ms.get() > SILENT_MS {
            tabs.listener.ask();
            if tabs.has_place.get() {
                tabs.heard_ms.set(clock::local_ms());
                tabs.source.connect();
            } else if tabs.leads.get() {
                // One of the places may be free by now; a new turn at the head of the queue tries.
                leave(&tabs);
                join(&tabs);
            }
        }
        watch(tabs);
    });
}
