//! What the page hears while it is open, shared by its islands: from the stream, or by asking.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use domain::{OrderEvent, OrderId, OrderState, StockEvent, VoucherId};
use leptos::{prelude::window, task::spawn_local};

use super::{clock, http, json::Json, notices, orders, release, source, tabs, timer};
use crate::model::OrderProps;

/// What an island hears.
#[derive(Debug, Clone, Copy)]
pub(crate) enum News {
    /// What is left of a sale.
    Stock(StockEvent),
    /// Where an order stands.
    Order(OrderEvent),
    /// The server knows an order no more that it had accepted.
    Gone(OrderId),
}

type Heard = Rc<dyn Fn(&News)>;

#[derive(Default)]
struct Hub {
    started: bool,
    voucher: Option<VoucherId>,
    islands: Vec<Heard>,
}

thread_local! {
    static HUB: RefCell<Hub> = RefCell::default();
}

/// Says that the page is about one voucher.
pub(crate) fn of_voucher(voucher: VoucherId) {
    HUB.with_borrow_mut(|hub| hub.voucher = Some(voucher));
}

/// Hears all news, for as long as the page lives. The stream opens once all islands are awake.
pub(crate) fn follow(each: impl Fn(&News) + 'static) {
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
            let lost = Cell::new(false);
            tabs::open(&who(), url, Page { lost });
        });
    }
}

/// Awaits the end of the order that this page has just made or has found queued. It is asked for at once where it was
/// made elsewhere.
pub(crate) fn await_mine(voucher: VoucherId, order: OrderId, at_once: bool) {
    let path = format!("/api/v1/vouchers/{voucher}/order");
    orders::wait_for(order, path, at_once.then_some(0));
}

/// Hears what becomes of one order of a list.
pub(crate) fn follow_order(order: OrderProps, each: impl Fn(News) + 'static) {
    follow(move |news| match news {
        News::Order(event) if event.order_id == order.order_id => each(*news),
        News::Gone(id) if *id == order.order_id => each(*news),
        _ => {}
    });
    if order.state == OrderState::Queued {
        let path = format!("/api/v1/orders/{}", order.order_id);
        orders::wait_for(order.order_id, path, None);
    }
}

/// The account whose page this is; empty for a stranger's.
fn who() -> String {
    release::mark("data-who").unwrap_or_default()
}

pub(super) fn tell(news: &News) {
    if let News::Order(event) = news {
        orders::heard(event);
    }
    let islands = HUB.with_borrow(|hub| hub.islands.clone());
    for island in islands {
        island(news);
    }
}

struct Page {
    lost: Cell<bool>,
}

impl source::Listener for Page {
    fn heard(&self, name: &str, data: &str) -> Option<u32> {
        let data = Json::parse(data)?;
        match name {
            "stock" => tell(&News::Stock(data.stock("voucher_id")?)),
            "order" => tell(&News::Order(data.order()?)),
            "clock" => clock::hear(data.number("now_ms")?),
            "bye" => {
                self.connected(false);
                return u32::try_from(data.number("retry_ms")?).ok();
            }
            _ => {}
        }
        None
    }

    fn connected(&self, open: bool) {
        // A stream that was asked for before the network went may still open after it.
        let open = open && window().navigator().on_line();
        if self.lost.replace(!open) && open {
            release::look_soon();
        }
        notices::show(".offline", !open);
    }

    fn ask(&self) {
        let voucher = HUB.with_borrow(|hub| hub.voucher);
        spawn_local(async move {
            let path = match voucher {
                Some(id) => format!("/api/v1/vouchers/{id}"),
                None => "/api/v1/vouchers".to_owned(),
            };
            let Ok(Some(answer)) = http::get(&path).await else {
                return;
            };
            let one = answer.get("voucher").into_iter();
            for stock in one
                .chain(answer.items("vouchers"))
                .filter_map(|sale| sale.stock("id"))
            {
                tell(&News::Stock(stock));
            }
        });
    }

    fn catch_up(&self) {
        self.ask();
        if !who().is_empty() {
            spawn_local(async {
                let Ok(Some(mine)) = http::get("/api/v1/orders").await else {
                    return;
                };
                for order in mine.items("orders").iter().filter_map(Json::order) {
                    tell(&News::Order(order));
                }
            });
        }
    }
}
