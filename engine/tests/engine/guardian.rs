//! The guardian: what crashed between two stores is finished, what Redis lost is loaded again, nothing is sold twice.

use domain::{Control, FailReason, GrabOutcome, OrderState, StockDelta};
use engine::{GuardReport, Guardian, testing::TestShop};
use redis::AsyncCommands;

use crate::support::{all_grab, queued, queued_id, redis_stock};

/// Passes until one of them rebuilds.
async fn rebuilt(guardian: &mut Guardian) -> GuardReport {
    for _ in 0..10 {
        let report = guardian.pass().await.unwrap();
        if report.rebuilt > 0 {
            return report;
        }
    }
    panic!("nothing was rebuilt");
}

#[tokio::test]
async fn k26_r17_an_emptied_redis_is_loaded_again_and_nothing_is_sold_twice() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(20).await;
    let voucher = shop.sale(10).await;
    let first = queued_id(shop.engine.grab(users[0], voucher.id).await.unwrap());
    assert_eq!(queued(&all_grab(&shop.engine, &users[1..6], &voucher).await), 5);
    shop.settle_all().await;
    redis::cmd("FLUSHALL")
        .exec_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    assert_eq!(
        shop.engine.grab(users[7], voucher.id).await.unwrap(),
        GrabOutcome::NotReady
    );
    let mut guardian = shop.guardian();
    assert_eq!(rebuilt(&mut guardian).await.rebuilt, 1);
    assert_eq!(
        guardian.pass().await.unwrap(),
        GuardReport::default(),
        "all is well again"
    );
    assert_eq!(redis_stock(&shop, &voucher).await, 4);
    let again = shop.engine.grab(users[0], voucher.id).await.unwrap();
    assert_eq!(again, GrabOutcome::AlreadyOrdered { order_id: first });
    assert_eq!(queued(&all_grab(&shop.engine, &users, &voucher).await), 4);
    assert_eq!(shop.settle_all().await.confirmed, 4);
    shop.close().await;
}

#[tokio::test]
async fn a_rebuild_waits_for_what_the_stream_still_holds() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(5).await;
    let voucher = shop.sale(5).await;
    assert_eq!(queued(&all_grab(&shop.engine, &users[..3], &voucher).await), 3);
    let stock = format!("seckill:stock:{}:{{p0}}", voucher.id);
    let () = shop.redis.connect().await.del(&stock).await.unwrap();
    let mut guardian = shop.guardian();
    for _ in 0..3 {
        assert_eq!(guardian.pass().await.unwrap().draining, 1);
        assert_eq!(
            shop.engine.grab(users[4], voucher.id).await.unwrap(),
            GrabOutcome::NotReady
        );
    }
    assert_eq!(shop.settle_all().await.confirmed, 3);
    rebuilt(&mut guardian).await;
    assert_eq!(redis_stock(&shop, &voucher).await, 2);
    assert_eq!(queued(&all_grab(&shop.engine, &users, &voucher).await), 2);
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn k35_an_old_copy_is_fenced_by_its_epoch() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let voucher = shop.sale(3).await;
    let sale = format!("seckill:sale:{}:{{p0}}", voucher.id);
    let mut con = shop.redis.connect().await;
    shop.database.run("UPDATE seckill_voucher SET epoch = 7").await;
    let mut guardian = shop.guardian();
    rebuilt(&mut guardian).await;
    assert_eq!(con.hget::<_, _, i64>(&sale, "epoch").await.unwrap(), 8);
    // The old primary comes back with its old copy, stock and all.
    let claims = format!("seckill:order:{}:{{p0}}", voucher.id);
    let () = con.hset(&sale, "epoch", 1).await.unwrap();
    let () = con.hset(&claims, "0", 1).await.unwrap();
    assert_eq!(
        shop.engine.grab(users[0], voucher.id).await.unwrap(),
        GrabOutcome::NotReady
    );
    rebuilt(&mut guardian).await;
    queued_id(shop.engine.grab(users[0], voucher.id).await.unwrap());
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn i5_an_order_that_settles_after_a_rebuild_is_told_that_it_failed() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let voucher = shop.sale(2).await;
    let lost = queued_id(shop.engine.grab(users[0], voucher.id).await.unwrap());
    let mut con = shop.redis.connect().await;
    redis::cmd("FLUSHALL").exec_async(&mut con).await.unwrap();
    rebuilt(&mut shop.guardian()).await;
    // A consumer had read the entry before Redis was emptied, and writes it only now.
    let (user, id, v) = (
        users[0].get().to_string(),
        lost.to_string(),
        voucher.id.to_string(),
    );
    let entry = [
        ("userId", user.as_str()),
        ("id", &id),
        ("voucherId", &v),
        ("epoch", "1"),
    ];
    let () = con.xadd("stream.orders:{p0}", "*", &entry).await.unwrap();
    let report = shop.settle_all().await;
    assert_eq!((report.failed, report.given_back), (1, 0));
    let told = shop.engine.order(users[0], lost).await.unwrap().unwrap();
    assert_eq!(
        (told.state, told.reason),
        (OrderState::Failed, Some(FailReason::Rejected))
    );
    assert_eq!(
        queued(&all_grab(&shop.engine, &users, &voucher).await),
        2,
        "both units are sold"
    );
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn k24_k34_a_restart_may_have_lost_grabs_so_the_sale_is_loaded_anew() {
    let mut shop = TestShop::open().await;
    let users = shop.shoppers(6).await;
    let voucher = shop.sale(6).await;
    all_grab(&shop.engine, &users[..3], &voucher).await;
    shop.settle_all().await;
    // The lost tail: Redis comes back, whole by its own lights, without the last claim and its unit.
    let mut con = shop.redis.connect().await;
    let () = con
        .hdel(format!("seckill:order:{}:{{p0}}", voucher.id), users[2].get())
        .await
        .unwrap();
    let () = con
        .incr(format!("seckill:stock:{}:{{p0}}", voucher.id), 1)
        .await
        .unwrap();
    shop.redis.restart().await;
    let mut guardian = shop.guardian();
    for _ in 0..20 {
        // The first calls after the restart may meet the old connection.
        if guardian.pass().await.is_ok_and(|report| report.rebuilt > 0) {
            break;
        }
    }
    assert_eq!(redis_stock(&shop, &voucher).await, 3);
    // The first call on the old connection is answered "busy": the same call again tells.
    while shop.engine.grab(users[0], voucher.id).await.unwrap() == GrabOutcome::Busy {}
    assert_eq!(queued(&all_grab(&shop.engine, &users, &voucher).await), 3);
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn k27_claims_without_entry_and_order_are_queued_again_once() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(4).await;
    let voucher = shop.sale(4).await;
    all_grab(&shop.engine, &users[..3], &voucher).await;
    let () = shop
        .redis
        .connect()
        .await
        .del("stream.orders:{p0}")
        .await
        .unwrap();
    let mut guardian = shop.guardian();
    assert_eq!(
        guardian.pass().await.unwrap(),
        GuardReport::default(),
        "young claims may be on their way"
    );
    shop.clock.shift(60_000);
    assert_eq!(guardian.pass().await.unwrap().requeued, 3);
    shop.clock.shift(0);
    assert_eq!(shop.settle_all().await.confirmed, 3);
    assert_eq!(guardian.pass().await.unwrap(), GuardReport::default());
    assert_eq!(guardian.pass().await.unwrap(), GuardReport::default());
    shop.close().await;
}

#[tokio::test]
async fn k48_a_unit_that_never_went_back_is_swept_up_once() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let voucher = shop.sale(2).await;
    queued_id(shop.engine.grab(users[0], voucher.id).await.unwrap());
    // The row says failed, the process died before the give-back, and the entry is lost.
    shop.database
        .run("ALTER TABLE voucher_order ADD CONSTRAINT none CHECK (state = 'failed')")
        .await;
    shop.settle_all().await;
    let claims = format!("seckill:order:{}:{{p0}}", voucher.id);
    let failed = shop.engine.orders(users[0]).await.unwrap()[0].order_id;
    let mut con = shop.redis.connect().await;
    let () = con.hset(&claims, users[0].get(), failed.get()).await.unwrap();
    let () = con
        .decr(format!("seckill:stock:{}:{{p0}}", voucher.id), 1)
        .await
        .unwrap();
    shop.clock.shift(60_000);
    let mut guardian = shop.guardian();
    assert_eq!(
        guardian.pass().await.unwrap().given_back,
        0,
        "it may be on its way"
    );
    shop.clock.shift(66_000);
    assert_eq!(guardian.pass().await.unwrap().given_back, 1);
    assert_eq!(guardian.pass().await.unwrap().given_back, 0);
    assert_eq!(redis_stock(&shop, &voucher).await, 2);
    shop.close().await;
}

#[tokio::test]
async fn r42_units_that_do_not_add_up_are_told_at_the_second_look_and_left_alone() {
    let shop = TestShop::open().await;
    let voucher = shop.sale(5).await;
    let key = format!("seckill:stock:{}:{{p0}}", voucher.id);
    let mut con = shop.redis.connect().await;
    let () = con.decr(&key, 2).await.unwrap();
    let mut guardian = shop.guardian();
    assert_eq!(guardian.pass().await.unwrap().drifting, 0);
    assert_eq!(guardian.pass().await.unwrap().drifting, 1);
    assert_eq!(redis_stock(&shop, &voucher).await, 3);
    let () = con.incr(&key, 2).await.unwrap();
    shop.close().await;
}

#[tokio::test]
async fn a_stock_change_that_crashed_half_way_is_finished_as_the_ledger_says() {
    let shop = TestShop::open().await;
    let admin = shop.shoppers(1).await[0];
    let voucher = shop.sale(5).await;
    let sale = format!("seckill:sale:{}:{{p0}}", voucher.id);
    let stock = format!("seckill:stock:{}:{{p0}}", voucher.id);
    let mut con = shop.redis.connect().await;
    // Begun, taken from Redis, and never written: it is undone.
    let () = con.hset(&sale, "change:77", -2).await.unwrap();
    let () = con.decr(&stock, 2).await.unwrap();
    let mut guardian = shop.guardian();
    assert_eq!(guardian.pass().await.unwrap().changes, 1);
    assert_eq!(redis_stock(&shop, &voucher).await, 5);
    // Written, and Redis was never told: it is finished.
    shop.engine
        .restock(admin, voucher.id, &StockDelta::check(3, "more").unwrap())
        .await
        .unwrap();
    let change = shop.database.number("SELECT id FROM stock_change").await;
    let () = con.hset(&sale, format!("change:{change}"), 3).await.unwrap();
    let () = con.decr(&stock, 3).await.unwrap();
    let () = con.hincr(&sale, "initial", -3).await.unwrap();
    shop.clock.shift(60_000);
    assert_eq!(guardian.pass().await.unwrap().changes, 1);
    assert_eq!(guardian.pass().await.unwrap().changes, 0);
    shop.close().await;
}

#[tokio::test]
async fn a_steering_that_redis_missed_is_made_up_for_and_an_old_one_is_refused() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let voucher = shop.sale(5).await;
    // Committed in the ledger, and the process died.
    shop.database
        .run("UPDATE seckill_voucher SET state = 'paused', version = version + 1")
        .await;
    let mut guardian = shop.guardian();
    assert_eq!(
        guardian.pass().await.unwrap().steered,
        0,
        "perhaps it is under way"
    );
    assert_eq!(guardian.pass().await.unwrap().steered, 1);
    assert_eq!(
        shop.engine.grab(users[0], voucher.id).await.unwrap(),
        GrabOutcome::Paused
    );
    // A later command is in Redis already; the ledger's older one must not undo it.
    let sale = format!("seckill:sale:{}:{{p0}}", voucher.id);
    let () = shop
        .redis
        .connect()
        .await
        .hset_multiple(&sale, &[("state", "ended"), ("version", "99")])
        .await
        .unwrap();
    shop.engine
        .steer(users[1], voucher.id, Control::Running)
        .await
        .unwrap();
    assert_eq!(
        shop.engine.grab(users[0], voucher.id).await.unwrap(),
        GrabOutcome::Ended
    );
    shop.close().await;
}

#[tokio::test]
async fn two_guardians_rebuild_a_sale_once() {
    let shop = TestShop::open().await;
    let voucher = shop.sale(5).await;
    let other = shop.another("other").await;
    redis::cmd("FLUSHALL")
        .exec_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    let (mut one, mut two) = (
        shop.guardian(),
        other.guardian(&tokio_util::sync::CancellationToken::new()),
    );
    let mut rebuilt = 0;
    for _ in 0..5 {
        let (a, b) = tokio::join!(one.pass(), two.pass());
        rebuilt += a.unwrap().rebuilt + b.unwrap().rebuilt;
    }
    assert_eq!(rebuilt, 1);
    assert_eq!(redis_stock(&shop, &voucher).await, 5);
    other.close().await;
    shop.close().await;
}

#[tokio::test]
async fn i12_a_rebuild_does_not_forget_accepted_orders_whose_entries_are_gone() {
    let mut shop = TestShop::open().await;
    let users = shop.shoppers(4).await;
    let voucher = shop.sale(4).await;
    let ids: Vec<_> = all_grab(&shop.engine, &users[..3], &voucher)
        .await
        .into_iter()
        .map(queued_id)
        .collect();
    // The stream is lost, and Redis restarts before the sweeper has looked.
    let () = shop
        .redis
        .connect()
        .await
        .del("stream.orders:{p0}")
        .await
        .unwrap();
    shop.redis.restart().await;
    let mut guardian = shop.guardian();
    while !guardian.pass().await.is_ok_and(|report| report.draining == 1) {}
    assert_eq!(shop.settle_all().await.confirmed, 3);
    rebuilt(&mut guardian).await;
    for (user, id) in users.iter().zip(ids) {
        assert_eq!(
            shop.engine.order(*user, id).await.unwrap().unwrap().state,
            OrderState::Confirmed
        );
    }
    assert_eq!(redis_stock(&shop, &voucher).await, 1);
    shop.close().await;
}
