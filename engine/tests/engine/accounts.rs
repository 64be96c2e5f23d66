//! Codes and sessions.

use domain::{Phone, Role};
use engine::{CodeSent, LogInError, testing::TestShop};

async fn code(shop: &TestShop, phone: &Phone) -> String {
    match shop.engine.send_code(phone).await.unwrap() {
        CodeSent::Sent { code } => code,
        CodeSent::Wait(wait) => panic!("wait {wait:?}"),
    }
}

fn wrong(code: &str) -> &'static str {
    if code == "000000" { "000001" } else { "000000" }
}

#[tokio::test]
async fn a_right_code_opens_a_session_once_and_logging_out_ends_it_everywhere() {
    let shop = TestShop::open().await;
    let other = shop.another("other").await;
    let phone: Phone = "13812345678".parse().unwrap();
    let code = code(&shop, &phone).await;
    let session = shop.engine.log_in(&phone, &code).await.unwrap();
    assert_eq!(
        (session.account.phone.as_str(), session.account.role),
        ("138****5678", Role::Shopper)
    );
    assert!(
        matches!(
            shop.engine.log_in(&phone, &code).await,
            Err(LogInError::WrongCode)
        ),
        "used up"
    );
    let token = session.token.secret();
    assert_eq!(
        shop.engine.session(token).await.unwrap(),
        Some(session.account.id)
    );
    assert_eq!(shop.engine.session("nonsense").await.unwrap(), None);
    shop.engine.log_out(token).await.unwrap();
    assert_eq!(shop.engine.session(token).await.unwrap(), None);
    assert_eq!(other.session(token).await.unwrap(), None);
    other.close().await;
    shop.close().await;
}

#[tokio::test]
async fn five_wrong_tries_use_a_code_up_and_another_is_not_sent_at_once() {
    let shop = TestShop::open().await;
    let phone: Phone = "13812345678".parse().unwrap();
    let code = code(&shop, &phone).await;
    for _ in 0..5 {
        assert!(matches!(
            shop.engine.log_in(&phone, wrong(&code)).await,
            Err(LogInError::WrongCode)
        ));
    }
    assert!(
        matches!(
            shop.engine.log_in(&phone, &code).await,
            Err(LogInError::WrongCode)
        ),
        "used up"
    );
    assert!(matches!(
        shop.engine.send_code(&phone).await.unwrap(),
        CodeSent::Wait(_)
    ));
    shop.close().await;
}

#[tokio::test]
async fn neither_token_nor_code_stands_in_redis() {
    let shop = TestShop::open().await;
    let phone: Phone = "13812345678".parse().unwrap();
    let code = code(&shop, &phone).await;
    let kept: String = redis::cmd("HGET")
        .arg(&["login:code:13812345678", "code"])
        .query_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    assert!(!kept.contains(&code));
    let session = shop.engine.log_in(&phone, &code).await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("login:token:*")
        .query_async(&mut shop.redis.connect().await)
        .await
        .unwrap();
    assert_eq!(keys.len(), 1);
    assert!(!keys[0].contains(session.token.secret()));
    shop.close().await;
}

#[tokio::test]
async fn a_granted_role_counts_at_once() {
    let shop = TestShop::open().await;
    let phone: Phone = "13812345678".parse().unwrap();
    let code = code(&shop, &phone).await;
    let user = shop.engine.log_in(&phone, &code).await.unwrap().account.id;
    assert!(!shop.engine.is_admin(user).await.unwrap());
    assert_eq!(shop.engine.grant_admin(&phone).await.unwrap(), user);
    assert!(shop.engine.is_admin(user).await.unwrap());
    shop.close().await;
}
