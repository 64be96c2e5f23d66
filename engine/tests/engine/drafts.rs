//! Sales that are not published yet.

use std::time::Duration;

use domain::{Control, GrabOutcome, SaleDraft, SaleEdit, SaleState, StockDelta, VoucherId};
use engine::{Clock, GuardReport, SteerError, SystemClock, testing::TestShop};

use crate::support::{queued_id, redis_stock};

/// A draft of three units whose begin has passed.
async fn draft(shop: &TestShop) -> VoucherId {
    let (operator, now) = (shop.shoppers(1).await[0], SystemClock.now());
    let draft = SaleDraft {
        title: "Not yet".into(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: 4750,
        actual_value: 5000,
        stock: 3,
        begins_at: now - Duration::from_mins(1),
        ends_at: now + Duration::from_hours(1),
    };
    shop.engine.draft(operator, 1, draft).await.unwrap()
}

#[tokio::test]
async fn a_draft_is_nowhere_until_it_is_published_and_then_sells() {
    let shop = TestShop::open().await;
    let users = shop.shoppers(2).await;
    let id = draft(&shop).await;
    assert_eq!(shop.engine.voucher(id).await.unwrap(), None);
    assert!(shop.engine.vouchers().await.unwrap().is_empty());
    let grabbed = shop.engine.grab(users[0], id).await.unwrap();
    assert_eq!(grabbed, GrabOutcome::UnknownVoucher);
    assert_eq!(
        shop.guardian().pass().await.unwrap(),
        GuardReport::default(),
        "nothing is loaded"
    );
    let seen = shop.engine.sale(id).await.unwrap().unwrap();
    assert_eq!(seen.state, SaleState::Draft);
    assert_eq!(shop.engine.drafts().await.unwrap(), [seen]);

    shop.engine.open(users[1], id).await.unwrap();
    let voucher = shop.engine.voucher(id).await.unwrap().unwrap();
    assert_eq!((voucher.state, voucher.stock), (SaleState::Live, 3));
    assert!(shop.engine.drafts().await.unwrap().is_empty());
    queued_id(shop.engine.grab(users[0], id).await.unwrap());
    assert_eq!(redis_stock(&shop, &voucher).await, 2);
    shop.engine.open(users[1], id).await.unwrap();
    let told = shop.engine.audit(id).await.unwrap();
    let told: Vec<_> = told.iter().map(|line| line.detail.as_str()).collect();
    assert_eq!((told.len(), told[0]), (2, "draft -> running"), "once: {told:?}");
    shop.settle_all().await;
    shop.close().await;
}

#[tokio::test]
async fn a_draft_can_be_changed_in_all_it_says_and_not_be_steered() {
    let shop = TestShop::open().await;
    let operator = shop.shoppers(1).await[0];
    let id = draft(&shop).await;
    for control in [Control::Running, Control::Paused, Control::Ended] {
        let steered = shop.engine.steer(operator, id, control).await;
        assert!(matches!(steered, Err(SteerError::Draft)), "{control:?}");
    }
    let change = |delta| StockDelta::check(delta, "a test").unwrap();
    shop.engine.restock(operator, id, &change(4)).await.unwrap();
    let too_many = shop.engine.restock(operator, id, &change(-8)).await;
    assert!(matches!(too_many, Err(SteerError::TooFewLeft)));
    let was = shop.engine.sale(id).await.unwrap().unwrap();
    let edit = SaleEdit {
        title: "Almost".into(),
        sub_title: was.sub_title,
        rules: was.rules,
        pay_value: was.pay_value,
        actual_value: was.actual_value,
        begins_at: was.begins_at + Duration::from_secs(1),
        ends_at: was.ends_at,
    };
    shop.engine.edit(operator, id, edit.clone()).await.unwrap();
    let now = shop.engine.sale(id).await.unwrap().unwrap();
    assert_eq!(
        (now.title.as_str(), now.begins_at, now.stock, now.initial_stock),
        ("Almost", edit.begins_at, 7, 7)
    );
    shop.close().await;
}

#[tokio::test]
async fn a_draft_that_would_be_over_is_not_published() {
    let shop = TestShop::open().await;
    let operator = shop.shoppers(1).await[0];
    let id = draft(&shop).await;
    shop.clock.shift(2 * 3_600_000);
    let opened = shop.engine.open(operator, id).await;
    assert!(matches!(opened, Err(SteerError::Over)));
    assert_eq!(
        shop.engine.sale(id).await.unwrap().unwrap().state,
        SaleState::Draft
    );
    let nowhere = VoucherId::new(999_999).unwrap();
    assert!(matches!(
        shop.engine.open(operator, nowhere).await,
        Err(SteerError::Unknown)
    ));
    shop.close().await;
}
