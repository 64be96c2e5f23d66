//! How often one person may call, over several processes.

use domain::GrabOutcome;
use engine::{CodeSent, Engine, Rate, Rates, testing::TestShop};
use redis::AsyncCommands;

/// A bucket whose tokens don't come back while a test runs.
const HUNDRED: Rate = Rate {
    per_second: 0.001,
    burst: 100,
};

async fn passed(engine: &Engine, user: domain::UserId, voucher: domain::VoucherId, attempts: u32) -> u32 {
    let mut passed = 0;
    for _ in 0..attempts {
        let outcome = engine.grab(user, voucher).await.unwrap();
        passed += u32::from(!matches!(outcome, GrabOutcome::RateLimited { .. }));
    }
    passed
}

#[tokio::test]
async fn r66_processes_share_a_persons_bucket_and_ask_redis_only_when_it_runs_hot() {
    let rates = Rates {
        grabs: HUNDRED,
        ..Rates::OFF
    };
    let shop = TestShop::open_with(|settings| settings.rates = rates).await;
    let other = shop.another("other").await;
    let (voucher, user) = (shop.sale(5).await, shop.shoppers(1).await[0]);
    let mut redis = shop.redis.connect().await;
    let bucket = format!("rate:grab:{user}");
    assert_eq!(passed(&shop.engine, user, voucher.id, 50).await, 50);
    assert!(
        !redis.exists::<_, bool>(&bucket).await.unwrap(),
        "no trip in the usual case"
    );
    assert_eq!(passed(&shop.engine, user, voucher.id, 30).await, 30);
    assert!(redis.exists::<_, bool>(&bucket).await.unwrap());
    // The other process lets half a bucket pass before it asks; by then the shared one is empty.
    assert_eq!(passed(&other, user, voucher.id, 80).await, 50);
    assert_eq!(passed(&shop.engine, user, voucher.id, 10).await, 0);
    shop.settle_all().await;
    other.close().await;
    shop.close().await;
}

#[tokio::test]
async fn codes_and_logins_of_a_phone_are_limited_too_and_redis_away_limits_nobody() {
    let two = Rate {
        per_second: 0.001,
        burst: 2,
    };
    let rates = Rates {
        codes: two,
        logins: two,
        ..Rates::OFF
    };
    let mut shop = TestShop::open_with(|settings| settings.rates = rates).await;
    let (phone, other) = ("13812345678".parse().unwrap(), "13912345678".parse().unwrap());
    for _ in 0..2 {
        let CodeSent::Sent { code } = shop.engine.send_code(&phone).await.unwrap() else {
            panic!("a used code is followed by another")
        };
        shop.engine.log_in(&phone, &code).await.unwrap();
    }
    assert!(matches!(
        shop.engine.send_code(&phone).await.unwrap(),
        CodeSent::Wait(_)
    ));
    assert!(shop.engine.log_in(&phone, "000000").await.is_err());
    assert!(matches!(
        shop.engine.send_code(&other).await.unwrap(),
        CodeSent::Sent { .. }
    ));
    shop.redis.kill();
    assert!(
        shop.engine.send_code(&other).await.is_err(),
        "the store is away, and that is what is said"
    );
    shop.redis.restart().await;
    shop.close().await;
}
