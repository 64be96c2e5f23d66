//! An operator steers a sale while two thousand shoppers grab.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use engine::{Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::shop::{OPERATOR, Shop};

const SHOPPERS: usize = 2000;
/// Calls under way at once: a process may have a thousand files open on some machines.
const AT_ONCE: usize = 200;
/// Before a shopper asks again.
const AGAIN: Duration = Duration::from_millis(200);

/// A shopper's luck: the order, when it was asked for, and when it was told.
type Luck = Option<(String, Instant, Instant)>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i5_r42_two_thousand_grab_while_stock_goes_up_and_down_and_the_sale_pauses() {
    let shop = Arc::new(Shop::open().await);
    let operator = shop.log_in(OPERATOR, None).await;
    let sale = publish(&shop, &operator, 1000).await;
    let (places, steered) = (
        Arc::new(Semaphore::new(AT_ONCE)),
        Arc::new(AtomicBool::new(false)),
    );
    let mut shoppers = JoinSet::new();
    for token in shop.shoppers(SHOPPERS) {
        let (shop, sale, places, steered) = (shop.clone(), sale.clone(), places.clone(), steered.clone());
        shoppers.spawn(async move { insist(&shop, &sale, &token, &places, &steered).await });
    }

    let steer = |what: &str, body: Value| {
        let path = format!("/api/v1/admin/vouchers/{sale}/{what}");
        let call = shop.as_user(Method::POST, &path, &operator).json(&body);
        async move { call.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(
        steer("stock", json!({"delta": 500, "reason": "more came"})).await,
        200
    );
    // Refused where fewer are left: what is sold is not taken away.
    let fewer = steer("stock", json!({"delta": -200, "reason": "some broke"})).await;
    assert!(fewer == 200 || fewer == 409, "{fewer}");
    assert_eq!(steer("pause", json!({})).await, 200);
    let paused = Instant::now();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let resumed = Instant::now();
    assert_eq!(steer("resume", json!({})).await, 200);
    steered.store(true, Ordering::Release);

    let luck: Vec<Luck> = shoppers.join_all().await;
    let got: Vec<_> = luck.iter().flatten().collect();
    let units = if fewer == 200 { 1300 } else { 1500 };
    assert_eq!(got.len(), units);
    let orders: HashSet<&str> = got.iter().map(|(order, ..)| order.as_str()).collect();
    assert_eq!(orders.len(), units, "each has an order of their own");
    let during = got
        .iter()
        .filter(|(_, asked, told)| paused < *asked && *told < resumed);
    let during: Vec<_> = during.collect();
    assert!(
        during.is_empty(),
        "nobody got a unit of a sale that was paused at {paused:?} and resumed at {resumed:?}: {during:?}"
    );

    let sum = at_rest(&shop, &sale, &operator).await;
    let wanted = json!({"units": units, "live_orders": units, "failed_orders": 0, "ledger_stock": 0, "redis_stock": 0, "drift": 0});
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&sum[name], value, "{name} in {sum}");
    }
    Arc::into_inner(shop).unwrap().close().await;
}

/// Asks until there is an order, or nothing is left and nothing more will come. Who was told to ask again, since it was
/// not known what became of the attempt, may have got the unit by it.
async fn insist(shop: &Shop, sale: &str, token: &str, places: &Semaphore, steered: &AtomicBool) -> Luck {
    let mut unclear = None;
    loop {
        let last = steered.load(Ordering::Acquire);
        let place = places.acquire().await.unwrap();
        let asked = Instant::now();
        let answer = shop.grab(sale, token).await;
        let status = answer.status().as_u16();
        let body: Value = answer.json().await.unwrap();
        drop(place);
        match status {
            202 => {
                return Some((
                    body["order_id"].as_str().unwrap().to_owned(),
                    asked,
                    Instant::now(),
                ));
            }
            409 => {
                let (asked, told) =
                    unclear.unwrap_or_else(|| panic!("refused, or not asked, and yet: {body}"));
                return Some((body["order_id"].as_str().unwrap().to_owned(), asked, told));
            }
            503 => {
                let (first, _) = unclear.unwrap_or((asked, asked));
                unclear = Some((first, Instant::now()));
                tokio::time::sleep(AGAIN).await;
            }
            410 if last => return None,
            410 | 423 | 429 => tokio::time::sleep(AGAIN).await,
            other => panic!("{other}: {body}"),
        }
    }
}

async fn publish(shop: &Shop, operator: &str, stock: u32) -> String {
    let (now, hour) = (SystemClock.now(), Duration::from_hours(1));
    let draft = json!({"title": "Steered", "sub_title": "", "rules": "", "pay_value": 1, "actual_value": 2, "stock": stock,
        "begins_at": now - hour, "ends_at": now + hour});
    let call = shop
        .as_user(Method::POST, "/api/v1/admin/vouchers", operator)
        .json(&draft);
    let body: Value = call.send().await.unwrap().json().await.unwrap();
    let id = body["voucher"]["id"].as_str();
    id.unwrap_or_else(|| panic!("{body}")).to_owned()
}

/// The sale's sum once every order is written.
async fn at_rest(shop: &Shop, sale: &str, operator: &str) -> Value {
    let began = Instant::now();
    loop {
        let path = format!("/api/v1/admin/vouchers/{sale}/report");
        let answer = shop.as_user(Method::GET, &path, operator).send().await.unwrap();
        let sum: Value = answer.json().await.unwrap();
        if sum["in_flight"] == 0 {
            return sum;
        }
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "orders stay in flight: {sum}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
