//! Shared by the tests.

use domain::{GrabOutcome, OrderId, UserId, Voucher};
use engine::{Engine, testing::TestShop};
use redis::AsyncCommands;

/// All these users grab at once; the answers come in their order.
pub(crate) async fn all_grab(engine: &Engine, users: &[UserId], voucher: &Voucher) -> Vec<GrabOutcome> {
    let id = voucher.id;
    let tasks: Vec<_> = users
        .iter()
        .map(|user| {
            let (engine, user) = (engine.clone(), *user);
            tokio::spawn(async move { engine.grab(user, id).await.expect("an outcome") })
        })
        .collect();
    let mut outcomes = Vec::with_capacity(tasks.len());
    for task in tasks {
        outcomes.push(task.await.expect("the task ends"));
    }
    outcomes
}

/// How many were queued.
pub(crate) fn queued(outcomes: &[GrabOutcome]) -> usize {
    outcomes
        .iter()
        .filter(|outcome| matches!(outcome, GrabOutcome::Queued { .. }))
        .count()
}

/// The id of a queued order.
pub(crate) fn queued_id(outcome: GrabOutcome) -> OrderId {
    match outcome {
        GrabOutcome::Queued { order_id } => order_id,
        other => panic!("not queued: {other:?}"),
    }
}

/// The stock key's value.
pub(crate) async fn redis_stock(shop: &TestShop, voucher: &Voucher) -> i64 {
    let key = format!("seckill:stock:{}:{{p0}}", voucher.id);
    shop.redis.connect().await.get(key).await.expect("a stock")
}

/// Adds an entry to the stream by hand.
pub(crate) async fn add_entry(shop: &TestShop, fields: &[(&str, &[u8])]) {
    let () = shop
        .redis
        .connect()
        .await
        .xadd("stream.orders:{p0}", "*", fields)
        .await
        .expect("an entry");
}

/// Adds an order to the stream by hand.
pub(crate) async fn add_order(shop: &TestShop, user: i64, order: i64, voucher: i64) {
    let (user, order, voucher) = (user.to_string(), order.to_string(), voucher.to_string());
    let fields: [(&str, &[u8]); 3] = [
        ("userId", user.as_bytes()),
        ("id", order.as_bytes()),
        ("voucherId", voucher.as_bytes()),
    ];
    add_entry(shop, &fields).await;
}
