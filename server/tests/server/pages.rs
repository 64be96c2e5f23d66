//! What every page and answer carries.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::shop::{OPERATOR, Shop, problem};

#[tokio::test]
async fn every_script_of_a_page_carries_the_nonce_of_its_policy_and_no_other_may_run() {
    let shop = Shop::open().await;
    let mut nonces = Vec::new();
    for page in ["/", "/login", "/vouchers/1", "/nowhere"] {
        let answer = shop.get(page).await;
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY]
            .to_str()
            .unwrap()
            .to_owned();
        let cache = answer.headers()[header::CACHE_CONTROL].clone();
        assert_eq!(cache, "no-store", "a nonce must not be seen twice");
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("unsafe-eval'  "),
            "{policy}"
        );
        let nonce = policy
            .split("'nonce-")
            .nth(1)
            .unwrap()
            .split('\'')
            .next()
            .unwrap()
            .to_owned();
        assert!(nonce.len() >= 20);
        let html = answer.text().await.unwrap();
        let scripts: Vec<_> = html.split("<script").skip(1).collect();
        assert!(!scripts.is_empty(), "{page}");
        for script in scripts {
            let tag = script.split('>').next().unwrap();
            assert!(
                tag.contains(&format!("nonce=\"{nonce}\"")),
                "{page}: <script{tag}>"
            );
        }
        assert!(!html.contains("<style") && !html.contains(" style=\"") && !html.contains(" onclick="));
        nonces.push(nonce);
    }
    nonces.sort_unstable();
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "a fresh nonce a page");
    shop.close().await;
}

#[tokio::test]
async fn every_answer_carries_the_headers_and_errors_come_in_our_words() {
    let shop = Shop::open().await;
    for path in [
        "/",
        "/api/v1/time",
        "/pkg/a.js",
        "/api/v1/nowhere",
        "/healthz",
        "/hmdp/user/me",
    ] {
        let answer = shop.get(path).await;
        let headers = answer.headers();
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "same-origin", "{path}");
        assert!(headers.contains_key("x-request-id"), "{path}");
        assert!(headers.contains_key(header::CONTENT_SECURITY_POLICY), "{path}");
        assert!(!headers.contains_key(header::SERVER), "{path}");
    }
    let wrong_verb = shop.call(Method::PUT, "/api/v1/time").send().await.unwrap();
    assert_eq!(wrong_verb.headers()[header::ALLOW], "GET,HEAD");
    assert_eq!(problem(wrong_verb).await, (405, "method_not_allowed".to_owned()));
    assert_eq!(problem(shop.get("/api/v1/vouchers/abc").await).await.0, 404);
    let no_function = shop.call(Method::POST, "/api/fn/nothing").send().await.unwrap();
    assert_eq!(problem(no_function).await.1, "bad_request");
    shop.close().await;
}

#[tokio::test]
async fn units_that_are_on_their_way_are_told_as_held_before_any_script_runs() {
    // Without a worker nothing is settled: the ledger still has the unit that Redis has given out.
    let shop = Shop::open_with(&["--role", "web"]).await;
    let operator = shop.log_in(OPERATOR, None).await;
    let body = json!({"title": "One", "pay_value": 100, "actual_value": 200, "stock": 1,
        "begins_at": "2020-01-01T00:00:00Z", "ends_at": "2040-01-01T00:00:00Z"});
    let call = shop.as_user(Method::POST, "/api/v1/admin/vouchers", &operator);
    let made: Value = call.json(&body).send().await.unwrap().json().await.unwrap();
    let id = made["voucher"]["id"].as_str().unwrap();
    assert!(made["voucher"].get("held").is_none(), "{made}");
    let user = shop.shoppers(1).remove(0);
    assert_eq!(shop.grab(id, &user).await.status(), 202);
    let page = shop.get(&format!("/vouchers/{id}")).await.text().await.unwrap();
    assert!(page.contains("data-phase=\"all_held\""), "{page}");
    let told: Value = shop
        .get(&format!("/api/v1/vouchers/{id}"))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(told["voucher"]["held"], true);
    shop.close().await;
}
