//! Sessions: they rotate, they end everywhere, they can't be forged.

use reqwest::{Method, header};
use serde_json::json;

use crate::shop::{OPERATOR, Shop, problem, token};

async fn is_good(shop: &Shop, token: &str) -> bool {
    let who = shop
        .as_user(Method::GET, "/api/v1/session", token)
        .send()
        .await
        .unwrap();
    who.status().is_success()
}

#[tokio::test]
async fn a_login_ends_the_session_that_the_browser_held_before() {
    let shop = Shop::open().await;
    let first = shop.log_in("13912345678", None).await;
    let second = shop.log_in("13912345678", Some(&first)).await;
    assert_ne!(first, second);
    assert!(!is_good(&shop, &first).await, "a second login rotates");
    // By the page's own form too.
    let code = shop.code("13912345678").await;
    let form = format!("phone=13912345678&code={code}&next=/");
    let page = shop
        .as_user(Method::POST, "/api/fn/log_in", &second)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(header::ACCEPT, "text/html")
        .body(form);
    let third = token(&page.send().await.unwrap());
    assert!(!is_good(&shop, &second).await);
    assert!(is_good(&shop, &third).await);
    shop.close().await;
}

#[tokio::test]
async fn a_login_of_an_hmdp_client_ends_the_session_that_it_sent() {
    let shop = Shop::open().await;
    let log_in = async |before: &str| {
        let code = shop.code("13912345678").await;
        let call = shop
            .call(Method::POST, "/hmdp/user/login")
            .header("authorization", before)
            .json(&json!({"phone": "13912345678", "code": code}));
        let body: serde_json::Value = call.send().await.unwrap().json().await.unwrap();
        body["data"].as_str().unwrap().to_owned()
    };
    let first = log_in("").await;
    assert!(is_good(&shop, &first).await);
    let second = log_in(&first).await;
    assert!(!is_good(&shop, &first).await);
    assert!(is_good(&shop, &second).await);
    shop.close().await;
}

#[tokio::test]
async fn logging_out_everywhere_ends_every_session_of_the_account_and_no_other() {
    let shop = Shop::open().await;
    let (home, work) = (
        shop.log_in(OPERATOR, None).await,
        shop.log_in(OPERATOR, None).await,
    );
    let other = shop.log_in("13912345678", None).await;
    assert!(is_good(&shop, &work).await, "two devices");
    let everywhere = "/api/v1/session?everywhere=true";
    let ended = shop
        .as_user(Method::DELETE, everywhere, &home)
        .send()
        .await
        .unwrap();
    assert_eq!(ended.status(), 204);
    assert!(!is_good(&shop, &home).await && !is_good(&shop, &work).await);
    assert!(is_good(&shop, &other).await);
    shop.close().await;
}

#[tokio::test]
async fn forged_cookies_open_nothing() {
    let shop = Shop::open().await;
    let voucher = shop.open_voucher().await;
    let long = "x".repeat(4000);
    for forged in [
        "1",
        "null",
        "../../etc",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        &long,
    ] {
        assert!(!is_good(&shop, forged).await);
        assert_eq!(problem(shop.grab(&voucher, forged).await).await.1, "unauthorized");
    }
    shop.close().await;
}

#[tokio::test]
async fn known_and_unknown_phones_get_the_same_answers() {
    let shop = Shop::open().await;
    shop.log_in("13912345678", None).await;
    let mut answers = Vec::new();
    for phone in ["13912345678", "13987654321"] {
        let sent = shop
            .call(Method::POST, "/api/v1/session/code")
            .json(&json!({"phone": phone}));
        let sent = sent.send().await.unwrap().status();
        let tried = shop
            .call(Method::POST, "/api/v1/session")
            .json(&json!({"phone": phone, "code": "not it"}));
        answers.push((sent, problem(tried.send().await.unwrap()).await));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].1, (422, "wrong_code".to_owned()));
    shop.close().await;
}

#[tokio::test]
async fn logins_that_use_their_code_may_follow_each_other_and_a_script_may_not_go_on_for_ever() {
    let shop = Shop::open_with(&["--login-burst", "8", "--login-rate", "0.001"]).await;
    for _ in 0..8 {
        shop.log_in("13912345678", None).await;
    }
    let tried = shop
        .call(Method::POST, "/api/v1/session")
        .json(&json!({"phone": "13912345678", "code": "000000"}));
    let refused = tried.send().await.unwrap();
    assert!(refused.headers().contains_key(header::RETRY_AFTER));
    assert_eq!(problem(refused).await, (429, "rate_limited".to_owned()));
    shop.log_in("13987654321", None).await;
    shop.close().await;
}
