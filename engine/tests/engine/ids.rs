//! Order ids.

use std::collections::HashSet;

use engine::testing::TestShop;

use crate::support::{all_grab, queued_id};

#[tokio::test]
async fn ids_are_distinct_across_processes_and_across_midnight() {
    let shop = TestShop::open_with(|settings| {
        settings.id_lease = 16;
        settings.grab_batch = 16;
    })
    .await;
    let users = shop.shoppers(120).await;
    let voucher = shop.sale(120).await;
    let other = shop.another("other").await;
    let day = 24 * 3600 * 1000;
    let mut ids = HashSet::new();
    for (round, users) in users.chunks(30).enumerate() {
        // Two rounds today, two a day later.
        shop.clock.shift(if round < 2 { 0 } else { day });
        let engine = if round % 2 == 0 { &shop.engine } else { &other };
        for outcome in all_grab(engine, users, &voucher).await {
            let id = queued_id(outcome);
            assert!(ids.insert(id), "{id} was minted twice");
            assert!(id.counter() >= 1);
        }
    }
    shop.clock.shift(0);
    assert_eq!(ids.len(), 120);
    assert_eq!(shop.settle_all().await.confirmed, 120);
    other.close().await;
    shop.close().await;
}
