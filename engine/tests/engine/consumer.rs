//! Settling: what becomes of entries, good and bad, first delivered or again.

use domain::{FailReason, GrabOutcome, OrderState};
use engine::{Clock, PassReport, SystemClock, testing::TestShop};
use redis::AsyncCommands;

use crate::support::{add_entry, add_order, all_grab, queued, queued_id, redis_stock};

const STREAM: &str = "stream.orders:{p0}";

#[tokio::test]
async fn i3_i5_five_thousand_shoppers_leave_a_thousand_rows_and_nothing_pending() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(5000).await;
    let voucher = shop.sale(1000).await;
    let outcomes = all_grab(&shop.engine, &users, &voucher).await;
    assert_eq!(queued(&outcomes), 1000);
    assert_eq!(shop.settle_all().await.confirmed, 1000);
    assert_eq!(
        shop.database
            .number("SELECT count(*) FROM voucher_order WHERE state = 'confirmed'")
            .await,
        1000
    );
    assert_eq!(
        shop.database
            .number("SELECT stock::bigint FROM seckill_voucher")
            .await,
        0
    );
    assert_eq!(redis_stock(&shop, &voucher).await, 0);
    shop.close().await;
}

#[tokio::test]
async fn i8_an_order_is_queued_until_its_row_exists_and_then_confirmed() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let voucher = shop.sale(1).await;
    let id = queued_id(shop.engine.grab(user, voucher.id).await.unwrap());
    let order = shop.engine.order_for(user, voucher.id).await.unwrap().unwrap();
    assert_eq!((order.order_id, order.state), (id, OrderState::Queued));
    assert_eq!(
        shop.engine.order(user, id).await.unwrap().unwrap().state,
        OrderState::Queued
    );
    shop.settle_all().await;
    let order = shop.engine.order_for(user, voucher.id).await.unwrap().unwrap();
    assert_eq!((order.order_id, order.state), (id, OrderState::Confirmed));
    assert_eq!(shop.engine.orders(user).await.unwrap(), [order]);
    shop.close().await;
}

#[tokio::test]
async fn k16_k10_an_entry_delivered_twice_or_after_its_commit_makes_one_row() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let voucher = shop.sale(2).await;
    let id = queued_id(shop.engine.grab(user, voucher.id).await.unwrap());
    // Twice in one batch, and once more after the row exists: as after a crash between commit and acknowledgement.
    add_order(&shop, user.get(), id.get(), voucher.id.get()).await;
    let report = shop.settle_all().await;
    assert_eq!((report.read, report.failed, report.given_back), (2, 0, 0));
    add_order(&shop, user.get(), id.get(), voucher.id.get()).await;
    assert_eq!(
        shop.settle_all().await,
        PassReport {
            read: 1,
            already: 1,
            ..PassReport::default()
        }
    );
    assert_eq!(redis_stock(&shop, &voucher).await, 1);
    shop.close().await;
}

#[tokio::test]
async fn i4_a_second_order_of_one_user_fails_and_its_unit_returns_once() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let voucher = shop.sale(5).await;
    let first = queued_id(shop.engine.grab(user, voucher.id).await.unwrap());
    shop.settle_all().await;
    // Redis forgets the claim, as after a fail-over to a stale replica.
    let claims = format!("seckill:order:{}:{{p0}}", voucher.id);
    let () = shop
        .redis
        .connect()
        .await
        .hdel(&claims, user.get())
        .await
        .unwrap();
    let second = queued_id(shop.engine.grab(user, voucher.id).await.unwrap());
    assert_ne!(first, second);
    let report = shop.settle_all().await;
    assert_eq!((report.failed, report.given_back), (1, 1));
    // Delivered again: nothing returns twice.
    add_order(&shop, user.get(), second.get(), voucher.id.get()).await;
    let report = shop.settle_all().await;
    assert_eq!((report.failed, report.given_back), (1, 0));
    assert_eq!(redis_stock(&shop, &voucher).await, 4);
    let told = shop.engine.order(user, second).await.unwrap().unwrap();
    assert_eq!(
        (told.state, told.reason),
        (OrderState::Failed, Some(FailReason::Duplicate))
    );
    // The user's claim is the live order again.
    let again = shop.engine.grab(user, voucher.id).await.unwrap();
    assert_eq!(again, GrabOutcome::AlreadyOrdered { order_id: first });
    shop.close().await;
}

#[tokio::test]
async fn i1_the_ledger_never_sells_more_than_it_has_even_if_redis_does() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(6).await;
    let voucher = shop.sale(4).await;
    let stock = format!("seckill:stock:{}:{{p0}}", voucher.id);
    let () = shop.redis.connect().await.incr(&stock, 2).await.unwrap();
    assert_eq!(queued(&all_grab(&shop.engine, &users, &voucher).await), 6);
    let report = shop.settle_all().await;
    assert_eq!((report.confirmed, report.failed, report.given_back), (4, 2, 2));
    assert_eq!(
        shop.database
            .number("SELECT count(*) FROM voucher_order WHERE reason = 'no_stock'")
            .await,
        2
    );
    // What Redis believed in beyond the ledger is taken out again, so that the shop adds up.
    let () = shop.redis.connect().await.decr(&stock, 2).await.unwrap();
    shop.close().await;
}

#[tokio::test]
async fn k15_r20_bad_entries_go_to_the_dead_stream_and_good_ones_land() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(100).await;
    let voucher = shop.sale(100).await;
    let (v, nine) = (voucher.id.to_string(), users[0].get().to_string());
    add_entry(&shop, &[("id", b"7"), ("voucherId", v.as_bytes())]).await;
    add_entry(
        &shop,
        &[
            ("userId", nine.as_bytes()),
            ("id", b"word"),
            ("voucherId", v.as_bytes()),
        ],
    )
    .await;
    add_entry(
        &shop,
        &[("userId", b"\xff\xfe"), ("id", b"7"), ("voucherId", v.as_bytes())],
    )
    .await;
    add_order(&shop, users[0].get(), 7, 424_242).await;
    add_order(&shop, 424_242, 8, voucher.id.get()).await;
    assert_eq!(queued(&all_grab(&shop.engine, &users, &voucher).await), 100);
    let report = shop.settle_all().await;
    assert_eq!((report.confirmed, report.dead, report.given_back), (100, 5, 0));
    let dead: i64 = shop.redis.connect().await.xlen("stream.dead:{p0}").await.unwrap();
    assert_eq!(dead, 5);
    shop.close().await;
}

#[tokio::test]
async fn r06_one_failure_does_not_touch_the_others() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let voucher = shop.sale(3).await;
    all_grab(&shop.engine, &users, &voucher).await;
    // The ledger refuses this one shopper's row, for whatever reason.
    shop.database
        .run("ALTER TABLE voucher_order ADD CONSTRAINT no_one CHECK (user_id <> 1 OR state = 'failed')")
        .await;
    let unlucky = users.iter().filter(|user| user.get() == 1).count() as u64;
    let report = shop.settle_all().await;
    assert_eq!(
        (report.confirmed, report.failed, report.given_back),
        (3 - unlucky, unlucky, unlucky)
    );
    assert_eq!(unlucky, 1, "ids of a fresh database begin at 1");
    shop.close().await;
}

#[tokio::test]
async fn k11_r24_a_backlog_is_settled_in_one_pass_batch_after_batch() {
    let shop = TestShop::open_with(|settings| settings.batch = 20).await;
    let users = shop.shoppers(110).await;
    let voucher = shop.sale(100).await;
    shop.worker().pass().await.unwrap();
    all_grab(&shop.engine, &users, &voucher).await;
    let report = shop.worker().pass().await.unwrap();
    assert_eq!((report.read, report.confirmed, report.already), (100, 100, 0));
    let mut con = shop.redis.connect().await;
    let left: u64 = con.xlen(STREAM).await.unwrap();
    assert_eq!(left, 0, "all are acknowledged and deleted");
    shop.close().await;
}

#[tokio::test]
async fn i9_a_crowd_that_does_not_pass_keeps_an_order_waiting_only_so_long() {
    let shop = TestShop::open_with(|settings| {
        settings.grab_batch = 4;
        settings.settle_patience = std::time::Duration::from_millis(50);
    })
    .await;
    let users = shop.shoppers(20).await;
    let sold = shop.sale(1).await;
    // Everybody is too early there, so that each attempt goes to the script.
    let (now, hour) = (SystemClock.now(), std::time::Duration::from_hours(1));
    let early = shop.sale_between(1, now + hour, now + hour * 2).await;
    shop.worker().pass().await.unwrap();
    queued_id(shop.engine.grab(users[0], sold.id).await.unwrap());
    let crowd = async {
        loop {
            all_grab(&shop.engine, &users, &early).await;
        }
    };
    let mut worker = shop.worker();
    let report = tokio::select! {
        report = worker.pass() => report.unwrap(),
        () = crowd => unreachable!("it never ends"),
    };
    assert_eq!(report.confirmed, 1);
    shop.close().await;
}

#[tokio::test]
async fn r21_k7_what_a_dead_consumer_left_is_claimed_to_the_end() {
    let shop = TestShop::open_with(|settings| settings.batch = 20).await;
    let users = shop.shoppers(50).await;
    let voucher = shop.sale(50).await;
    // The group is made; a consumer reads all and dies; its entries have been idle for an hour.
    shop.worker().pass().await.unwrap();
    all_grab(&shop.engine, &users, &voucher).await;
    let mut con = shop.redis.connect().await;
    let read: redis::Value = redis::cmd("XREADGROUP")
        .arg(&["GROUP", "g1", "the-dead", "COUNT", "1000", "STREAMS", STREAM, ">"])
        .query_async(&mut con)
        .await
        .unwrap();
    assert!(matches!(read, redis::Value::Array(_)));
    let pending: redis::streams::StreamPendingCountReply =
        con.xpending_count(STREAM, "g1", "-", "+", 1000).await.unwrap();
    assert_eq!(pending.ids.len(), 50);
    for entry in &pending.ids {
        redis::cmd("XCLAIM")
            .arg(&[
                STREAM,
                "g1",
                "the-dead",
                "0",
                entry.id.as_str(),
                "IDLE",
                "3600000",
            ])
            .exec_async(&mut con)
            .await
            .unwrap();
    }
    let report = shop.settle_all().await;
    assert_eq!((report.claimed, report.confirmed), (50, 50));
    shop.close().await;
}

#[tokio::test]
async fn k18_a_consumer_begins_with_its_own_pending_entries() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(10).await;
    let voucher = shop.sale(10).await;
    shop.worker().pass().await.unwrap();
    all_grab(&shop.engine, &users, &voucher).await;
    // Delivered under our name, and lost with the process.
    redis::cmd("XREADGROUP")
        .arg(&[
            "GROUP",
            "g1",
            "test-consumer",
            "COUNT",
            "1000",
            "STREAMS",
            STREAM,
            ">",
        ])
        .exec_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    let report = shop.worker().pass().await.unwrap();
    assert_eq!(report.confirmed, 10);
    shop.close().await;
}

#[tokio::test]
async fn r17_k26_a_lost_group_is_made_again_from_the_beginning() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let voucher = shop.sale(2).await;
    let mut worker = shop.worker();
    worker.pass().await.unwrap();
    shop.engine.grab(users[0], voucher.id).await.unwrap();
    redis::cmd("XGROUP")
        .arg(&["DESTROY", STREAM, "g1"])
        .exec_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    shop.engine.grab(users[1], voucher.id).await.unwrap();
    assert!(worker.pass().await.is_err(), "the loss is noticed");
    assert_eq!(worker.pass().await.unwrap().confirmed, 2);
    shop.close().await;
}

#[tokio::test]
async fn k38_a_ledger_that_takes_no_writes_burns_nothing() {
    let shop = TestShop::open_with(|settings| settings.batch = 2).await;
    let users = shop.shoppers(5).await;
    let voucher = shop.sale(5).await;
    all_grab(&shop.engine, &users, &voucher).await;
    let mut worker = shop.worker();
    shop.database
        .run("REVOKE ALL ON voucher_order FROM PUBLIC; ALTER TABLE voucher_order RENAME TO away")
        .await;
    for _ in 0..5 {
        assert!(worker.pass().await.is_err());
    }
    let mut con = shop.redis.connect().await;
    let pending: redis::streams::StreamPendingCountReply =
        con.xpending_count(STREAM, "g1", "-", "+", 10).await.unwrap();
    // A full batch, and the one that was read ahead of it.
    assert_eq!(pending.ids.len(), 4);
    assert!(
        pending.ids.iter().all(|entry| entry.times_delivered == 1),
        "they stayed in hand"
    );
    shop.database
        .run("ALTER TABLE away RENAME TO voucher_order")
        .await;
    let mut report = worker.pass().await.unwrap();
    report += worker.pass().await.unwrap();
    assert_eq!((report.confirmed, report.dead, report.failed), (5, 0, 0));
    shop.close().await;
}

#[tokio::test]
async fn k39_a_ledger_that_is_too_slow_for_a_whole_batch_takes_it_in_halves() {
    let shop =
        TestShop::open_with(|settings| settings.settle_timeout = std::time::Duration::from_millis(400)).await;
    let users = shop.shoppers(8).await;
    let voucher = shop.sale(8).await;
    shop.database
        .run(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.08); RETURN NEW; END';
             CREATE TRIGGER slow BEFORE INSERT ON voucher_order FOR EACH ROW EXECUTE FUNCTION slow()",
        )
        .await;
    assert_eq!(queued(&all_grab(&shop.engine, &users, &voucher).await), 8);
    assert_eq!(shop.settle_all().await.confirmed, 8);
    shop.close().await;
}
