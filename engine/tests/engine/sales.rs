//! Publishing and steering.

use domain::{Control, GrabOutcome, StockDelta};
use engine::{PublishError, SteerError, testing::TestShop};
use redis::AsyncCommands;

use crate::support::{all_grab, queued, queued_id, redis_stock};

#[tokio::test]
async fn a_wrong_draft_is_refused_and_writes_nothing_to_either_store() {
    let shop = TestShop::open().await;
    let good = shop.sale(1).await;
    let draft = domain::SaleDraft {
        title: String::new(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: 1,
        actual_value: 2,
        stock: 1 << 31,
        begins_at: good.begins_at,
        ends_at: good.ends_at,
    };
    let Err(PublishError::Invalid(errors)) = shop.engine.publish(None, 1, draft).await else {
        panic!()
    };
    assert_eq!(errors.len(), 2);
    assert_eq!(shop.database.number("SELECT count(*) FROM voucher").await, 1);
    let keys: Vec<String> = shop.redis.connect().await.keys("seckill:*").await.unwrap();
    assert_eq!(keys.len(), 3, "{keys:?}");
    shop.close().await;
}

#[tokio::test]
async fn r71_a_sale_that_redis_could_not_take_is_saved_and_not_called_sold_out() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let mut con = shop.redis.connect().await;
    let set = |bytes| redis::cmd("CONFIG").arg(&["SET", "maxmemory", bytes]).to_owned();
    shop.engine.grab(user, shop.sale(1).await.id).await.unwrap();
    set("1").exec_async(&mut con).await.unwrap();
    let saved = shop.sale(5).await;
    assert_eq!(saved.stock, 5, "the ledger's figure");
    set("0").exec_async(&mut con).await.unwrap();
    assert_eq!(
        shop.engine.grab(user, saved.id).await.unwrap(),
        GrabOutcome::NotReady
    );
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn units_come_and_go_in_both_stores_and_never_below_what_is_sold() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(8).await;
    let admin = users[7];
    let voucher = shop.sale(3).await;
    assert_eq!(queued(&all_grab(&shop.engine, &users[..5], &voucher).await), 3);
    let change = |n| StockDelta::check(n, "a test").unwrap();
    let taken = shop.engine.restock(admin, voucher.id, &change(-1)).await;
    assert!(matches!(taken, Err(SteerError::TooFewLeft)), "all three are sold");
    // R04, K50: more come while the sale is sold out.
    shop.engine.restock(admin, voucher.id, &change(4)).await.unwrap();
    assert_eq!(queued(&all_grab(&shop.engine, &users[3..6], &voucher).await), 3);
    shop.engine.restock(admin, voucher.id, &change(-1)).await.unwrap();
    assert_eq!(redis_stock(&shop, &voucher).await, 0);
    assert_eq!(
        shop.engine.grab(users[6], voucher.id).await.unwrap(),
        GrabOutcome::SoldOut
    );
    assert_eq!(shop.settle_all().await.confirmed, 6);
    assert_eq!(
        shop.engine
            .voucher(voucher.id)
            .await
            .unwrap()
            .unwrap()
            .initial_stock,
        6
    );
    let audit = shop.engine.audit(voucher.id).await.unwrap();
    let told: Vec<_> = audit.iter().map(|line| line.detail.as_str()).collect();
    assert_eq!(
        told[..2],
        ["-1 units (7 -> 6): a test", "+4 units (3 -> 7): a test"]
    );
    assert_eq!(audit[2].action, "created");
    shop.close().await;
}

#[tokio::test]
async fn an_ended_sale_stays_ended() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let voucher = shop.sale(1).await;
    shop.engine.steer(user, voucher.id, Control::Ended).await.unwrap();
    shop.engine.steer(user, voucher.id, Control::Ended).await.unwrap();
    let resumed = shop.engine.steer(user, voucher.id, Control::Running).await;
    assert!(matches!(resumed, Err(SteerError::Ended)));
    assert_eq!(
        shop.engine.audit(voucher.id).await.unwrap().len(),
        2,
        "the repeat is no event"
    );
    shop.close().await;
}

#[tokio::test]
async fn another_process_knows_a_sale_the_moment_it_exists() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let other = shop.another("other").await;
    assert!(other.vouchers().await.unwrap().is_empty());
    let voucher = shop.sale(1).await;
    queued_id(other.grab(user, voucher.id).await.unwrap());
    shop.settle_all().await;
    other.close().await;
    shop.close().await;
}
