//! Orders whose end is awaited: asked for should the stream not tell, and given up only when the server surely does not
//! know them any more.

use std::cell::{Cell, RefCell};

use domain::{OrderEvent, OrderId, OrderState};
use leptos::task::spawn_local;

use super::{
    http,
    live::{self, News},
    tabs, timer,
};

/// How long to wait until an order is asked for, should the stream stay silent.
const ASK_AFTER_MS: u32 = 2000;
/// The wait grows to this while nothing changes.
const LONGEST_WAIT_MS: u32 = 10_000;
/// The server has to deny an order this often: it may be busy finding again what its store has lost.
const DENIALS: u32 = 3;

#[derive(Clone)]
struct Awaited {
    order_id: OrderId,
    path: String,
    denied: u32,
}

thread_local! {
    static AWAITED: RefCell<Vec<Awaited>> = RefCell::default();
    static ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Asks for an order's end, from `wait_ms` on, as often as it takes.
pub(super) fn wait_for(order_id: OrderId, path: String, wait_ms: Option<u32>) {
    AWAITED.with_borrow_mut(|awaited| {
        if awaited.iter().all(|other| other.order_id != order_id) {
            awaited.push(Awaited {
                order_id,
                path,
                denied: 0,
            });
        }
    });
    if !ASKING.replace(true) {
        timer::after(wait_ms.unwrap_or(ASK_AFTER_MS), || ask(ASK_AFTER_MS));
    }
}

/// An order that has settled is awaited no longer.
pub(super) fn heard(news: &OrderEvent) {
    if news.state != OrderState::Queued {
        forget(news.order_id);
    }
}

fn forget(id: OrderId) {
    AWAITED.with_borrow_mut(|awaited| awaited.retain(|order| order.order_id != id));
}

fn ask(wait_ms: u32) {
    let awaited = AWAITED.with_borrow(Clone::clone);
    if awaited.is_empty() {
        return ASKING.set(false);
    }
    spawn_local(async move {
        // Nobody looks at a hidden page; the stream tells the state when it is looked at again.
        let seen = if tabs::hidden() { Vec::new() } else { awaited };
        for order in seen {
            match http::get(&order.path).await {
                Ok(Some(answer)) => found(&order, answer.order()),
                Ok(None) => denied(order.order_id),
                Err(_) => {}
            }
        }
        let next = (wait_ms * 3 / 2).min(LONGEST_WAIT_MS);
        timer::after(timer::jittered(wait_ms), move || ask(next));
    });
}

fn found(order: &Awaited, news: Option<OrderEvent>) {
    let Some(news) = news else { return };
    if news.order_id != order.order_id {
        // A later order has taken its place.
        forget(order.order_id);
    }
    live::tell(&News::Order(news));
}

fn denied(id: OrderId) {
    let gone = AWAITED.with_borrow_mut(|awaited| {
        let order = awaited.iter_mut().find(|order| order.order_id == id);
        order.is_some_and(|order| {
            order.denied += 1;
            order.denied >= DENIALS
        })
    });
    if gone {
        forget(id);
        live::tell(&News::Gone(id));
    }
}
