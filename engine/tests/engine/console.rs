//! What operators do beyond steering: edits, dead letters, the sum, looking orders up.

use domain::{FailReason, OrderState, SaleEdit, Voucher};
use engine::{EditError, LetterOutcome, OrderSearch, PassReport, testing::TestShop};
use redis::AsyncCommands;

use crate::support::{add_entry, add_order, all_grab, queued_id, redis_stock};

fn edit_of(voucher: &Voucher) -> SaleEdit {
    SaleEdit {
        title: voucher.title.clone(),
        sub_title: voucher.sub_title.clone(),
        rules: voucher.rules.clone(),
        pay_value: voucher.pay_value,
        actual_value: voucher.actual_value,
        begins_at: voucher.begins_at,
        ends_at: voucher.ends_at,
    }
}

#[tokio::test]
async fn r47_saving_unchanged_changes_nothing_and_an_edit_reaches_both_stores() {
    let shop = TestShop::open().await;
    let admin = shop.shoppers(1).await[0];
    let voucher = shop.sale(5).await;
    let version = || shop.database.number("SELECT version FROM seckill_voucher");
    shop.engine
        .edit(admin, voucher.id, edit_of(&voucher))
        .await
        .unwrap();
    assert_eq!(
        (
            version().await,
            shop.engine.audit(voucher.id).await.unwrap().len()
        ),
        (0, 1)
    );

    let later = voucher.ends_at + std::time::Duration::from_mins(1);
    let edit = SaleEdit {
        title: "Better".into(),
        ends_at: later,
        ..edit_of(&voucher)
    };
    shop.engine.edit(admin, voucher.id, edit).await.unwrap();
    let now = shop.engine.voucher(voucher.id).await.unwrap().unwrap();
    assert_eq!(
        (now.title.as_str(), now.ends_at, version().await),
        ("Better", later, 1)
    );
    let end: i64 = shop
        .redis
        .connect()
        .await
        .hget(format!("seckill:sale:{}:{{p0}}", voucher.id), "end")
        .await
        .unwrap();
    assert_eq!(end, later.millis());
    let told = &shop.engine.audit(voucher.id).await.unwrap()[0].detail;
    assert!(
        told.starts_with("title: \"A test voucher\" -> \"Better\"; ends_at: "),
        "{told}"
    );

    let moved = SaleEdit {
        begins_at: later - std::time::Duration::from_secs(1),
        ..edit_of(&now)
    };
    let Err(EditError::Invalid(errors)) = shop.engine.edit(admin, voucher.id, moved).await else {
        panic!()
    };
    assert_eq!(errors["begins_at"].code, "begun");
    shop.close().await;
}

#[tokio::test]
async fn r14_a_held_letter_is_replayed_or_released_and_its_unit_moves_once() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(4).await;
    let admin = users[3];
    let voucher = shop.sale(5).await;
    let ids: Vec<_> = all_grab(&shop.engine, &users[..3], &voucher)
        .await
        .into_iter()
        .map(queued_id)
        .collect();
    // Three orders that nobody could settle, as the consumer leaves them.
    let mut con = shop.redis.connect().await;
    let () = con.del("stream.orders:{p0}").await.unwrap();
    for (user, id) in users.iter().zip(&ids) {
        let (user, id, v) = (user.to_string(), id.to_string(), voucher.id.to_string());
        let fields = [
            ("reason", "held"),
            ("userId", &user),
            ("id", &id),
            ("voucherId", &v),
            ("payload", ""),
        ];
        let () = con.xadd("stream.dead:{p0}", "*", &fields).await.unwrap();
    }
    let letters = shop.engine.dead_letters().await.unwrap();
    assert_eq!(letters.len(), 3);
    let of = |n: usize| {
        letters
            .iter()
            .find(|letter| letter.order_id == Some(ids[n]))
            .unwrap()
            .id
            .clone()
    };

    assert_eq!(
        shop.engine.replay_letter(admin, &of(0)).await.unwrap(),
        LetterOutcome::Replayed
    );
    assert_eq!(
        shop.engine.replay_letter(admin, &of(0)).await.unwrap(),
        LetterOutcome::Gone
    );
    assert_eq!(shop.settle_all().await.confirmed, 1);

    assert_eq!(
        shop.engine.release_letter(admin, &of(1)).await.unwrap(),
        LetterOutcome::Released
    );
    assert_eq!(
        shop.engine.release_letter(admin, &of(1)).await.unwrap(),
        LetterOutcome::Gone
    );
    assert_eq!(redis_stock(&shop, &voucher).await, 3);
    let told = shop.engine.order(users[1], ids[1]).await.unwrap().unwrap();
    assert_eq!(
        (told.state, told.reason),
        (OrderState::Failed, Some(FailReason::Rejected))
    );

    // Its commit had arrived after all: there is nothing to release.
    add_order(&shop, users[2].get(), ids[2].get(), voucher.id.get()).await;
    shop.settle_all().await;
    assert_eq!(
        shop.engine.release_letter(admin, &of(2)).await.unwrap(),
        LetterOutcome::WasSettled
    );
    assert_eq!(redis_stock(&shop, &voucher).await, 3);
    assert!(shop.engine.dead_letters().await.unwrap().is_empty());
    assert_eq!(
        shop.engine.replay_letter(admin, "nonsense").await.unwrap(),
        LetterOutcome::Gone
    );
    shop.close().await;
}

#[tokio::test]
async fn an_unreadable_letter_can_be_dropped_and_not_replayed() {
    let shop = TestShop::open().await;
    let admin = shop.shoppers(1).await[0];
    shop.worker().pass().await.unwrap();
    add_entry(&shop, &[("nonsense", b"<b>x</b>")]).await;
    assert_eq!(
        shop.settle_all().await,
        PassReport {
            read: 1,
            dead: 1,
            ..PassReport::default()
        }
    );
    let letter = shop.engine.dead_letters().await.unwrap().remove(0);
    assert_eq!(
        (letter.reason.as_str(), letter.payload.as_str()),
        ("unreadable", "nonsense <b>x</b>")
    );
    assert_eq!(
        shop.engine.replay_letter(admin, &letter.id).await.unwrap(),
        LetterOutcome::NoOrder
    );
    assert_eq!(
        shop.engine.release_letter(admin, &letter.id).await.unwrap(),
        LetterOutcome::NoOrder
    );
    assert!(shop.engine.dead_letters().await.unwrap().is_empty());
    shop.close().await;
}

#[tokio::test]
async fn r20_an_entry_that_is_delivered_again_and_again_is_held_and_the_others_land() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let voucher = shop.sale(3).await;
    shop.worker().pass().await.unwrap();
    all_grab(&shop.engine, &users, &voucher).await;
    // Delivered ten times, each time to a process that died: the tries alone are counted, and one had three.
    let mut con = shop.redis.connect().await;
    let read: redis::streams::StreamReadReply = redis::cmd("XREADGROUP")
        .arg(&["GROUP", "g1", "dead", "STREAMS", "stream.orders:{p0}", ">"])
        .query_async(&mut con)
        .await
        .unwrap();
    let entries: Vec<_> = read.keys[0].ids.iter().map(|entry| entry.id.clone()).collect();
    for entry in &entries {
        redis::cmd("XCLAIM")
            .arg(&[
                "stream.orders:{p0}",
                "g1",
                "dead",
                "0",
                entry,
                "IDLE",
                "3600000",
                "RETRYCOUNT",
                "10",
            ])
            .exec_async(&mut con)
            .await
            .unwrap();
    }
    let () = con.hset("settle.tries:{p0}", &entries[0], 3).await.unwrap();
    let report = shop.settle_all().await;
    assert_eq!(
        (report.claimed, report.confirmed, report.dead, report.given_back),
        (3, 2, 1, 0)
    );
    let letter = shop.engine.dead_letters().await.unwrap().remove(0);
    assert_eq!(letter.reason, "held");
    // Nobody but an operator touches it: neither sweeper nor anything else queues it again.
    shop.clock.shift(60_000);
    let mut guardian = shop.guardian();
    guardian.pass().await.unwrap();
    shop.clock.shift(66_000);
    assert_eq!(guardian.pass().await.unwrap().requeued, 0);
    shop.clock.shift(0);
    assert_eq!(con.hlen::<_, i64>("settle.tries:{p0}").await.unwrap(), 0);
    assert_eq!(
        shop.engine.replay_letter(users[0], &letter.id).await.unwrap(),
        LetterOutcome::Replayed
    );
    assert_eq!(shop.settle_all().await.confirmed, 1);
    shop.close().await;
}

#[tokio::test]
async fn orders_are_found_by_phone_id_state_and_voucher_and_the_sum_adds_up() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(3).await;
    let voucher = shop.sale(2).await;
    all_grab(&shop.engine, &users, &voucher).await;
    shop.settle_all().await;
    let engine = &shop.engine;
    let find = |wanted: OrderSearch| async move { engine.search_orders(&wanted).await.unwrap() };
    let all = find(OrderSearch {
        voucher: Some(voucher.id),
        ..OrderSearch::default()
    })
    .await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].phone, format!("199****{:04}", all[0].user_id.get() - 1));
    let one = find(OrderSearch {
        id: Some(all[1].order.order_id),
        ..OrderSearch::default()
    })
    .await;
    assert_eq!(one, all[1..]);
    let before = find(OrderSearch {
        before: Some(all[0].order.order_id),
        ..OrderSearch::default()
    })
    .await;
    assert_eq!(before, all[1..]);
    let failed = find(OrderSearch {
        state: Some(OrderState::Failed),
        ..OrderSearch::default()
    })
    .await;
    assert!(failed.is_empty());
    let phone = format!("199{:08}", all[0].user_id.get() - 1).parse().unwrap();
    assert_eq!(
        find(OrderSearch {
            phone: Some(phone),
            ..OrderSearch::default()
        })
        .await,
        all[..1]
    );
    let sum = shop.engine.sum(voucher.id).await.unwrap().unwrap();
    assert_eq!(sum.published + sum.changed, sum.live_orders + sum.ledger_stock);
    shop.close().await;
}
