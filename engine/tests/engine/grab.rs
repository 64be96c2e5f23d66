//! The grab: every code of the script, and who gets the units.

use std::{collections::HashSet, time::Duration};

use domain::{Control, GrabOutcome, VoucherId};
use engine::{Clock, SystemClock, testing::TestShop};
use redis::AsyncCommands;

use crate::support::{all_grab, queued, queued_id, redis_stock};

#[tokio::test]
async fn every_code_of_the_script_is_reached_and_a_refusal_changes_nothing() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let admin = users[2];
    let (now, hour) = (SystemClock.now(), Duration::from_hours(1));
    let grab = |user, voucher| shop.engine.grab(user, voucher);

    let open = shop.sale(1).await;
    let id = queued_id(grab(users[0], open.id).await.unwrap());
    assert_eq!(
        grab(users[0], open.id).await.unwrap(),
        GrabOutcome::AlreadyOrdered { order_id: id }
    );
    assert_eq!(grab(users[1], open.id).await.unwrap(), GrabOutcome::SoldOut);

    let later = shop.sale_between(5, now + hour, now + hour * 2).await;
    assert_eq!(grab(users[0], later.id).await.unwrap(), GrabOutcome::NotStarted);

    let paused = shop.sale(5).await;
    shop.engine
        .steer(admin, paused.id, Control::Paused)
        .await
        .unwrap();
    assert_eq!(grab(users[0], paused.id).await.unwrap(), GrabOutcome::Paused);
    shop.engine
        .steer(admin, paused.id, Control::Running)
        .await
        .unwrap();
    queued_id(grab(users[0], paused.id).await.unwrap());

    let ended = shop.sale(5).await;
    shop.engine.steer(admin, ended.id, Control::Ended).await.unwrap();
    assert_eq!(grab(users[0], ended.id).await.unwrap(), GrabOutcome::Ended);

    let unknown = VoucherId::new(987_654_321).unwrap();
    assert_eq!(
        grab(users[0], unknown).await.unwrap(),
        GrabOutcome::UnknownVoucher
    );

    for (voucher, left) in [(&open, 0), (&later, 5), (&paused, 4), (&ended, 5)] {
        assert_eq!(redis_stock(&shop, voucher).await, left);
    }
    assert_eq!(shop.settle_all().await.confirmed, 2);
    shop.close().await;
}

#[tokio::test]
async fn k25_a_sale_with_a_missing_key_answers_not_ready_and_never_sold_out() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    for kind in ["stock", "order", "sale"] {
        let voucher = shop.sale(5).await;
        let key = format!("seckill:{kind}:{}:{{p0}}", voucher.id);
        let () = shop.redis.connect().await.del(key).await.unwrap();
        assert_eq!(
            shop.engine.grab(users[0], voucher.id).await.unwrap(),
            GrabOutcome::NotReady,
            "{kind}"
        );
    }
    shop.close().await;
}

#[tokio::test]
async fn r01_one_user_fifty_times_gets_one_order_and_stock_falls_by_one() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let voucher = shop.sale(10).await;
    let outcomes = all_grab(&shop.engine, &[user; 50], &voucher).await;
    assert_eq!(queued(&outcomes), 1);
    let ids: HashSet<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            GrabOutcome::Queued { order_id } | GrabOutcome::AlreadyOrdered { order_id } => *order_id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids.len(), 1, "one id for all answers");
    assert_eq!(redis_stock(&shop, &voucher).await, 9);
    assert_eq!(shop.settle_all().await.confirmed, 1);
    shop.close().await;
}

#[tokio::test]
async fn r03_the_last_unit_goes_to_exactly_one_of_five_hundred_twenty_times() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(500).await;
    for _ in 0..20 {
        let voucher = shop.sale(1).await;
        let outcomes = all_grab(&shop.engine, &users, &voucher).await;
        assert_eq!(queued(&outcomes), 1);
        assert_eq!(
            outcomes
                .iter()
                .filter(|outcome| **outcome == GrabOutcome::SoldOut)
                .count(),
            499
        );
    }
    assert_eq!(shop.settle_all().await.confirmed, 20);
    shop.close().await;
}

#[tokio::test]
async fn i2_k6_a_crowd_over_three_processes_gets_each_unit_once() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(300).await;
    let voucher = shop.sale(100).await;
    let (second, third) = (shop.another("second").await, shop.another("third").await);
    second.grab(users[0], voucher.id).await.unwrap();
    let (a, b, c) = tokio::join!(
        all_grab(&shop.engine, &users, &voucher),
        all_grab(&second, &users, &voucher),
        all_grab(&third, &users, &voucher)
    );
    assert_eq!(
        queued(&a) + queued(&b) + queued(&c),
        99,
        "the hundredth went before"
    );
    assert_eq!(shop.settle_all().await.confirmed, 100);
    assert_eq!(
        shop.database
            .number("SELECT count(DISTINCT user_id) FROM voucher_order")
            .await,
        100
    );
    second.close().await;
    third.close().await;
    shop.close().await;
}

#[tokio::test]
async fn r34_k29_a_flushed_script_cache_is_loaded_again_unnoticed() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let voucher = shop.sale(2).await;
    queued_id(shop.engine.grab(users[0], voucher.id).await.unwrap());
    redis::cmd("SCRIPT")
        .arg("FLUSH")
        .exec_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    queued_id(shop.engine.grab(users[1], voucher.id).await.unwrap());
    assert_eq!(shop.settle_all().await.confirmed, 2);
    shop.close().await;
}

#[tokio::test]
async fn k32_without_memory_a_grab_is_refused_whole() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let voucher = shop.sale(2).await;
    let mut con = shop.redis.connect().await;
    // Ids are leased first, so that it is the script that meets the wall.
    shop.engine.grab(users[0], voucher.id).await.unwrap();
    shop.settle_all().await;
    let set = |bytes| redis::cmd("CONFIG").arg(&["SET", "maxmemory", bytes]).to_owned();
    set("1").exec_async(&mut con).await.unwrap();
    let other = users[1];
    assert_eq!(
        shop.engine.grab(other, voucher.id).await.unwrap(),
        GrabOutcome::Busy
    );
    set("0").exec_async(&mut con).await.unwrap();
    assert_eq!(redis_stock(&shop, &voucher).await, 1);
    assert_eq!(con.xlen::<_, i64>("stream.orders:{p0}").await.unwrap(), 0);
    queued_id(shop.engine.grab(other, voucher.id).await.unwrap());
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn k44_r09_the_window_is_judged_by_redis_however_wrong_the_process_clock_is() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let (now, hour) = (SystemClock.now(), Duration::from_hours(1));
    let open = shop.sale(3).await;
    let later = shop.sale_between(3, now + hour / 2, now + hour).await;
    for (user, shift) in users.iter().zip([0, 3_600_000, -3_600_000]) {
        shop.clock.shift(shift);
        queued_id(shop.engine.grab(*user, open.id).await.unwrap());
        assert_eq!(
            shop.engine.grab(*user, later.id).await.unwrap(),
            GrabOutcome::NotStarted
        );
    }
    shop.clock.shift(0);
    assert_eq!(shop.settle_all().await.confirmed, 3);
    shop.close().await;
}

#[tokio::test]
async fn r04_k50_a_sold_out_sale_is_remembered_for_a_moment_and_sells_again_when_units_return() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(40).await;
    let voucher = shop.sale(5).await;
    let other = shop.another("other").await;
    let (winners, rest) = users.split_at(5);
    let mut ids = Vec::new();
    for outcome in all_grab(&other, winners, &voucher).await {
        ids.push(queued_id(outcome));
    }
    shop.settle_all().await;
    // Long enough for the memory to be kept and renewed: the answers are the script's own all the while.
    let script_calls = || async {
        let info: redis::InfoDict = redis::cmd("INFO")
            .arg("commandstats")
            .query_async(&mut shop.redis.connect().await)
            .await
            .unwrap();
        info.get::<String>("cmdstat_evalsha").unwrap_or_default()
    };
    let mut remembered = false;
    for _ in 0..2000 {
        let before = script_calls().await;
        assert_eq!(
            shop.engine.grab(rest[0], voucher.id).await.unwrap(),
            GrabOutcome::SoldOut
        );
        let mine = shop.engine.grab(winners[0], voucher.id).await.unwrap();
        assert_eq!(mine, GrabOutcome::AlreadyOrdered { order_id: ids[0] });
        remembered |= before == script_calls().await;
        if remembered {
            break;
        }
    }
    assert!(remembered, "a refusal goes without the script at last");
    // Here at once, elsewhere within the memory's time.
    let more = domain::StockDelta::check(3, "more").unwrap();
    other.grab(rest[0], voucher.id).await.unwrap();
    shop.engine.restock(users[0], voucher.id, &more).await.unwrap();
    queued_id(shop.engine.grab(rest[0], voucher.id).await.unwrap());
    let began = std::time::Instant::now();
    while other.grab(rest[1], voucher.id).await.unwrap() == GrabOutcome::SoldOut {
        assert!(
            began.elapsed() < Duration::from_secs(1),
            "a memory outlives its time"
        );
    }
    shop.settle_all().await;
    other.close().await;
    shop.close().await;
}

#[tokio::test]
async fn i11_a_remembered_sale_still_ends_at_its_end() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let now = SystemClock.now();
    let voucher = shop
        .sale_between(1, now - Duration::from_secs(1), now + Duration::from_millis(700))
        .await;
    queued_id(shop.engine.grab(users[0], voucher.id).await.unwrap());
    let began = std::time::Instant::now();
    while shop.engine.grab(users[1], voucher.id).await.unwrap() == GrabOutcome::SoldOut {
        assert!(began.elapsed() < Duration::from_secs(2), "the end was missed");
    }
    assert_eq!(
        shop.engine.grab(users[1], voucher.id).await.unwrap(),
        GrabOutcome::Ended
    );
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn owners_who_ask_again_before_an_empty_shelf_are_answered_without_the_script() {
    let shop = TestShop::open().await;
    let user = shop.shoppers(1).await[0];
    let voucher = shop.sale(1).await;
    let order_id = queued_id(shop.engine.grab(user, voucher.id).await.unwrap());
    shop.settle_all().await;
    let calls = || async {
        let info: redis::InfoDict = redis::cmd("INFO")
            .arg("commandstats")
            .query_async(&mut shop.redis.connect().await)
            .await
            .unwrap();
        info.get::<String>("cmdstat_evalsha").unwrap_or_default()
    };
    for _ in 0..2000 {
        let before = calls().await;
        let again = shop.engine.grab(user, voucher.id).await.unwrap();
        assert_eq!(again, GrabOutcome::AlreadyOrdered { order_id });
        if before == calls().await {
            shop.close().await;
            return;
        }
    }
    panic!("every repeat ran the script");
}
