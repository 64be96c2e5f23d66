//! The page's one stream, shared by its islands.

use std::{cell::RefCell, rc::Rc};

use domain::{LiveEvent, OrderEvent, SaleState, StockEvent, VoucherId};
use leptos::task::spawn_local;
use serde::Deserialize;

use super::{clock, http, source, timer};
use crate::model::OrderProps;

/// How long to wait until a queued order is asked for, should the stream stay silent.
const ASK_AFTER_MS: u32 = 2000;

type Heard = Rc<dyn Fn(&LiveEvent)>;

#[derive(Default)]
struct Hub {
    started: bool,
    voucher: Option<VoucherId>,
    islands: Vec<Heard>,
    on_lost: Option<Rc<dyn Fn(bool)>>,
    /// Orders whose end is awaited.
    watched: Vec<(VoucherId, OrderProps)>,
}

thread_local! {
    static HUB: RefCell<Hub> = RefCell::default();
}

#[derive(Deserialize)]
struct Clock {
    now_ms: i64,
}

#[derive(Deserialize)]
struct Bye {
    retry_ms: u32,
}

/// The part of a sale's document that changes.
#[derive(Deserialize)]
struct Glance {
    voucher: Changing,
}

#[derive(Deserialize)]
struct Changing {
    stock: i64,
    state: SaleState,
}

/// Says that the page is about one voucher, and whom to tell when the stream is lost or found.
pub(crate) fn of_voucher(voucher: VoucherId, on_lost: impl Fn(bool) + 'static) {
    HUB.with_borrow_mut(|hub| {
        hub.voucher = Some(voucher);
        hub.on_lost = Some(Rc::new(on_lost));
    });
}

/// Hears every event, for as long as the page lives. The stream opens once all islands are awake.
pub(crate) fn follow(each: impl Fn(&LiveEvent) + 'static) {
    let first = HUB.with_borrow_mut(|hub| {
        hub.islands.push(Rc::new(each));
        !std::mem::replace(&mut hub.started, true)
    });
    if first {
        timer::after(0, || {
            let voucher = HUB.with_borrow(|hub| hub.voucher);
            let url = match voucher {
                Some(voucher) => format!("/api/v1/events?voucher={voucher}"),
                None => "/api/v1/events".to_owned(),
            };
            source::open(url, Page);
        });
    }
}

/// Hears what becomes of an order.
pub(crate) fn follow_order(voucher: VoucherId, order: OrderProps, each: impl Fn(OrderProps) + 'static) {
    follow(move |event| {
        if let LiveEvent::Order(news) = event {
            each(OrderProps {
                order_id: news.order_id,
                state: news.state,
                reason: news.reason,
            });
        }
    });
    if order.state == domain::OrderState::Queued {
        await_end(voucher, order, ASK_AFTER_MS);
    }
}

/// Tells of an order that was just made, and asks for its end should the stream not tell.
pub(crate) fn watch(voucher: VoucherId, order: OrderProps, each: impl Fn(OrderProps) + 'static) {
    each(order);
    await_end(voucher, order, ASK_AFTER_MS);
}

/// Asks at once where an order stands that was made before, elsewhere.
pub(crate) fn look_up(voucher: VoucherId, order: OrderProps) {
    await_end(voucher, order, 0);
}

fn await_end(voucher: VoucherId, order: OrderProps, wait_ms: u32) {
    HUB.with_borrow_mut(|hub| hub.watched.push((voucher, order)));
    timer::after(wait_ms, ask_for_orders);
}

fn tell(event: &LiveEvent) {
    let islands = HUB.with_borrow_mut(|hub| {
        if let LiveEvent::Order(news) = event
            && news.state != domain::OrderState::Queued
        {
            hub.watched.retain(|(_, order)| order.order_id != news.order_id);
        }
        hub.islands.clone()
    });
    for island in islands {
        island(event);
    }
}

/// Asks for each awaited order; as often as it takes.
fn ask_for_orders() {
    let watched = HUB.with_borrow(|hub| hub.watched.clone());
    if watched.is_empty() {
        return;
    }
    spawn_local(async move {
        // Nobody looks at a hidden page; the stream tells the state when it is looked at again.
        let seen = if source::hidden() { Vec::new() } else { watched };
        for (voucher_id, _) in seen {
            let path = format!("/api/v1/vouchers/{voucher_id}/order");
            if let Ok(Some(order)) = http::get::<OrderProps>(&path).await {
                let OrderProps {
                    order_id,
                    state,
                    reason,
                } = order;
                tell(&LiveEvent::Order(OrderEvent {
                    voucher_id,
                    order_id,
                    state,
                    reason,
                }));
            }
        }
        timer::after(timer::jittered(ASK_AFTER_MS), ask_for_orders);
    });
}

struct Page;

impl source::Listener for Page {
    fn heard(&self, name: &str, data: &str) -> Option<u32> {
        match name {
            "stock" => {
                if let Ok(news) = serde_json::from_str::<StockEvent>(data) {
                    tell(&LiveEvent::Stock(news));
                }
            }
            "order" => {
                if let Ok(news) = serde_json::from_str::<OrderEvent>(data) {
                    tell(&LiveEvent::Order(news));
                }
            }
            "clock" => {
                if let Ok(Clock { now_ms }) = serde_json::from_str(data) {
                    clock::hear(now_ms);
                }
            }
            "bye" => {
                self.connected(false);
                return serde_json::from_str(data).map_or(None, |Bye { retry_ms }| Some(retry_ms));
            }
            _ => {}
        }
        None
    }

    fn connected(&self, open: bool) {
        if let Some(on_lost) = HUB.with_borrow(|hub| hub.on_lost.clone()) {
            on_lost(!open);
        }
    }

    fn ask(&self) {
        if let Some(voucher_id) = HUB.with_borrow(|hub| hub.voucher) {
            spawn_local(async move {
                if let Ok(Some(Glance { voucher })) =
                    http::get(&format!("/api/v1/vouchers/{voucher_id}")).await
                {
                    let (stock, state) = (Some(voucher.stock), voucher.state);
                    tell(&LiveEvent::Stock(StockEvent {
                        voucher_id,
                        stock,
                        state,
                    }));
                }
            });
        }
    }
}
