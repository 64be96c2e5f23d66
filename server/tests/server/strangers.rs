//! What other sites and other people may not do.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::shop::{Shop, problem, server_functions};

#[tokio::test]
async fn another_sites_form_does_nothing() {
    let shop = Shop::open().await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let mut paths: Vec<String> = server_functions("")
        .iter()
        .map(|name| format!("/api/fn/{name}"))
        .collect();
    paths.push(format!("/api/v1/vouchers/{voucher}/grab"));
    paths.push(format!("/hmdp/voucher-order/seckill/{voucher}"));
    paths.push("/api/v1/session/code".to_owned());
    let post = |path: &str| {
        shop.as_user(Method::POST, path, &user)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(format!("voucher_id={voucher}"))
    };
    for path in &paths {
        let tricks = [
            vec![("sec-fetch-site", "cross-site")],
            vec![("sec-fetch-site", "same-site")],
            vec![("origin", "https://evil.example")],
            vec![("origin", "null")],
        ];
        for trick in tricks {
            let mut call = post(path);
            for (name, value) in &trick {
                call = call.header(*name, *value);
            }
            let refused = problem(call.send().await.unwrap()).await;
            assert_eq!(refused, (403, "cross_site".to_owned()), "{path} {trick:?}");
        }
    }
    let mine = format!("/api/v1/vouchers/{voucher}/order");
    let order = shop.as_user(Method::GET, &mine, &user).send().await.unwrap();
    assert_eq!(order.status(), 404, "nothing was bought");
    let own = post("/api/fn/grab").header("sec-fetch-site", "same-origin");
    assert!(
        own.send().await.unwrap().status().is_success(),
        "one's own page may"
    );
    let order = shop.as_user(Method::GET, &mine, &user).send().await.unwrap();
    assert_eq!(order.status(), 200);
    shop.close().await;
}

#[tokio::test]
async fn a_link_changes_nothing() {
    let shop = Shop::open().await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    for name in server_functions("") {
        let path = format!("/api/fn/{name}?voucher_id={voucher}&id={voucher}");
        let followed = shop.as_user(Method::GET, &path, &user).send().await.unwrap();
        assert!(
            followed.status().is_client_error(),
            "{path}: {}",
            followed.status()
        );
    }
    let grab = format!("/api/v1/vouchers/{voucher}/grab");
    assert_eq!(
        shop.as_user(Method::GET, &grab, &user)
            .send()
            .await
            .unwrap()
            .status(),
        405
    );
    let mine = format!("/api/v1/vouchers/{voucher}/order");
    assert_eq!(
        shop.as_user(Method::GET, &mine, &user)
            .send()
            .await
            .unwrap()
            .status(),
        404
    );
    shop.close().await;
}

#[tokio::test]
async fn anothers_order_is_not_there_and_its_news_are_not_heard() {
    let shop = Shop::open().await;
    let (voucher, users) = (shop.open_voucher().await, shop.shoppers(2));
    let path = format!("/api/v1/events?voucher={voucher}");
    let mut listener = shop.as_user(Method::GET, &path, &users[1]).send().await.unwrap();
    let queued: Value = shop.grab(&voucher, &users[0]).await.json().await.unwrap();
    let order = queued["order_id"].as_str().unwrap();
    let path = format!("/api/v1/orders/{order}");
    assert_eq!(
        shop.as_user(Method::GET, &path, &users[0])
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    let theirs = shop.as_user(Method::GET, &path, &users[1]).send().await.unwrap();
    assert_eq!(problem(theirs).await, (404, "not_found".to_owned()));
    // The listener's own order ends the wait: whatever was told before it has come by then.
    let own: Value = shop.grab(&voucher, &users[1]).await.json().await.unwrap();
    let own = own["order_id"].as_str().unwrap();
    let mut heard = String::new();
    while !heard.contains(own) {
        let chunk = listener.chunk().await.unwrap().expect("the stream goes on");
        heard += std::str::from_utf8(&chunk).unwrap();
    }
    assert!(!heard.contains(order), "{heard}");
    shop.close().await;
}

#[tokio::test]
async fn one_id_leads_from_the_click_to_the_row() {
    let mut shop = Shop::open_with_log("info,engine=debug", &[]).await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let path = format!("/api/v1/events?voucher={voucher}");
    let mut listener = shop.as_user(Method::GET, &path, &user).send().await.unwrap();
    let grab = format!("/api/v1/vouchers/{voucher}/grab");
    let call = shop
        .as_user(Method::POST, &grab, &user)
        .header("x-request-id", "click-0002");
    let queued: Value = call.send().await.unwrap().json().await.unwrap();
    let order = queued["order_id"].as_str().unwrap().to_owned();
    let mut heard = String::new();
    while !heard.contains("confirmed") {
        let chunk = listener.chunk().await.unwrap().expect("the stream goes on");
        heard += std::str::from_utf8(&chunk).unwrap();
    }
    drop(listener);
    shop.stop();
    let lines: Vec<Value> = shop
        .log()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let line = |message: &str| {
        lines
            .iter()
            .find(|line| line["message"] == message && line["order"] == order)
    };
    assert_eq!(line("queued").unwrap()["request_id"], "click-0002");
    assert_eq!(line("settled").unwrap()["state"], "confirmed");
    shop.close().await;
}

#[tokio::test]
async fn logs_hold_neither_phone_nor_token_nor_code_and_carry_the_calls_id() {
    let mut shop = Shop::open_with(&["--login-rate", "0"]).await;
    let code = shop.code("13912345678").await;
    let call = shop
        .call(Method::POST, "/api/v1/session")
        .header("x-request-id", "click-0001")
        .json(&json!({"phone": "13912345678", "code": code}));
    let answer = call.send().await.unwrap();
    assert_eq!(answer.headers()["x-request-id"], "click-0001");
    let token = crate::shop::token(&answer);
    let minted = shop.get("/healthz").await.headers()["x-request-id"].clone();
    assert_eq!(minted.len(), 16);
    shop.stop();
    let log = shop.log();
    assert!(!log.contains("13912345678") && !log.contains(&token), "{log}");
    assert!(
        log.lines()
            .all(|line| serde_json::from_str::<Value>(line).is_ok()),
        "{log}"
    );
    shop.close().await;
}
