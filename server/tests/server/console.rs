//! What operators watch and prepare.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::shop::{OPERATOR, Shop, problem};

/// Between two looks at what the server does in the background.
const LOOK: Duration = Duration::from_millis(50);
/// The longest that anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The next board of a stream.
async fn next_board(stream: &mut reqwest::Response) -> Option<Value> {
    let mut text = String::new();
    while !text.ends_with("\n\n") {
        text += std::str::from_utf8(&stream.chunk().await.ok()??).unwrap();
    }
    let data = text.strip_prefix("event: board\ndata: ")?;
    Some(serde_json::from_str(data).unwrap())
}

/// Whoever may not watch any more is told nothing more.
async fn ends(stream: &mut reqwest::Response) {
    let ended = async { while next_board(stream).await.is_some() {} };
    tokio::time::timeout(PATIENCE, ended)
        .await
        .expect("the stream ends");
}

/// Looks until the metrics hold the text, or no more.
async fn metrics_until(shop: &Shop, text: &str, there: bool) {
    let found = async {
        while shop.get("/metrics").await.text().await.unwrap().contains(text) != there {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, found)
        .await
        .expect("the metrics tell");
}

#[tokio::test]
async fn the_board_is_told_each_second_and_ends_with_the_session_and_with_the_role() {
    let shop = Shop::open().await;
    let operator = shop.log_in(OPERATOR, None).await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let path = format!("/api/v1/admin/vouchers/{voucher}/board/events");
    let watch = async |token: &str| {
        let call = shop.as_user(Method::GET, &path, token);
        call.send().await.unwrap()
    };
    assert_eq!(watch(&user).await.status(), StatusCode::FORBIDDEN);
    let mut stream = watch(&operator).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let first = next_board(&mut stream).await.unwrap();
    assert_eq!(first["sum"]["live_orders"], 0);
    assert_eq!(first["streams_open"], 1);
    assert_eq!(shop.grab(&voucher, &user).await.status(), 202);
    let mut sold = Value::Null;
    for _ in 0..10 {
        sold = next_board(&mut stream).await.unwrap()["sum"]["live_orders"].clone();
        if sold == 1 {
            break;
        }
    }
    assert_eq!(sold, 1);
    let other = shop.log_in("13811112222", None).await;
    let account = |sql| shop.database.run(sql);
    account("UPDATE account SET role = 'admin' WHERE phone = '13811112222'").await;
    let mut others = watch(&other).await;
    assert!(next_board(&mut others).await.is_some());
    account("UPDATE account SET role = 'shopper' WHERE phone = '13811112222'").await;
    ends(&mut others).await;
    assert!(next_board(&mut stream).await.is_some(), "the first one goes on");
    let out = shop.as_user(Method::DELETE, "/api/v1/session", &operator);
    assert!(out.send().await.unwrap().status().is_success());
    ends(&mut stream).await;
    shop.close().await;
}

#[tokio::test]
async fn a_draft_is_not_there_for_shoppers_until_it_is_published() {
    let shop = Shop::open().await;
    let operator = shop.log_in(OPERATOR, None).await;
    let user = shop.shoppers(1).remove(0);
    let post = |path: String, body: Value| shop.as_user(Method::POST, &path, &operator).json(&body).send();
    let body = json!({"title": "Not yet", "pay_value": 100, "actual_value": 200, "stock": 2,
        "begins_at": "2020-01-01T00:00:00Z", "ends_at": "2040-01-01T00:00:00Z"});
    let made = post("/api/v1/admin/drafts".to_owned(), body).await.unwrap();
    assert_eq!(made.status(), StatusCode::CREATED);
    let made: Value = made.json().await.unwrap();
    assert_eq!(made["voucher"]["state"], "draft");
    let id = made["voucher"]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/vouchers/{id}");
    assert_eq!(
        problem(shop.get(&path).await).await,
        (404, "not_found".to_owned())
    );
    assert_eq!(problem(shop.grab(&id, &user).await).await.0, 404);
    let stream = shop.get(&format!("/api/v1/events?voucher={id}")).await;
    assert_eq!(stream.status(), 404);
    assert_eq!(shop.get(&format!("/vouchers/{id}")).await.status(), 404);
    assert!(
        !shop
            .get("/api/v1/vouchers")
            .await
            .text()
            .await
            .unwrap()
            .contains("Not yet")
    );
    let act = |what: &str| post(format!("/api/v1/admin/vouchers/{id}/{what}"), json!({}));
    for what in ["pause", "resume", "end"] {
        assert_eq!(problem(act(what).await.unwrap()).await, (409, "draft".to_owned()));
    }
    assert_eq!(act("publish").await.unwrap().status(), 200);
    assert_eq!(shop.get(&path).await.status(), 200);
    assert_eq!(shop.grab(&id, &user).await.status(), 202);
    shop.close().await;
}

#[tokio::test]
async fn r42_what_a_sale_is_off_by_is_a_gauge_of_its_own() {
    let shop = Shop::open().await;
    let voucher = shop.open_voucher().await;
    let key = format!("seckill:stock:{voucher}:{{p0}}");
    let wanted = format!("seckill_sale_drift_units{{voucher=\"{voucher}\"}} 2\n");
    shop.redis.add(&key, -2).await;
    metrics_until(&shop, &wanted, true).await;
    shop.redis.add(&key, 2).await;
    metrics_until(&shop, "seckill_sale_drift_units{", false).await;
    shop.close().await;
}
