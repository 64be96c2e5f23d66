//! Operators' routes, listed from the document that is made from the router.

use reqwest::{Method, StatusCode, header};
use serde_json::Value;

use crate::shop::{OPERATOR, Shop, problem, server_functions};

async fn operators_routes(shop: &Shop) -> Vec<(Method, String)> {
    let document: Value = shop.get("/api/openapi.json").await.json().await.unwrap();
    let mut found = Vec::new();
    for (path, verbs) in document["paths"].as_object().unwrap() {
        if path.starts_with("/api/v1/admin") {
            let path = path
                .split('/')
                .map(|part| if part.starts_with('{') { "1" } else { part });
            let path = path.collect::<Vec<_>>().join("/");
            for verb in verbs
                .as_object()
                .unwrap()
                .keys()
                .filter(|verb| verb.as_str() != "parameters")
            {
                found.push((verb.to_uppercase().parse().unwrap(), path.clone()));
            }
        }
    }
    assert!(found.len() >= 7, "{found:?}");
    found
}

#[tokio::test]
async fn strangers_and_shoppers_stay_outside_every_operators_route() {
    let shop = Shop::open().await;
    let shopper = shop.shoppers(1).remove(0);
    for (method, path) in operators_routes(&shop).await {
        let stranger = shop.call(method.clone(), &path).body("{}").send().await.unwrap();
        assert_eq!(
            problem(stranger).await,
            (401, "unauthorized".to_owned()),
            "{method} {path}"
        );
        let forged = shop
            .as_user(method.clone(), &path, "forged")
            .send()
            .await
            .unwrap();
        assert_eq!(problem(forged).await.0, 401, "{method} {path}");
        let shopper = shop.as_user(method.clone(), &path, &shopper).body("{}");
        let refused = problem(shopper.send().await.unwrap()).await;
        assert_eq!(refused, (403, "forbidden".to_owned()), "{method} {path}");
    }
    shop.close().await;
}

#[tokio::test]
async fn strangers_and_shoppers_get_nothing_from_operators_forms_and_pages() {
    let shop = Shop::open().await;
    let shopper = shop.shoppers(1).remove(0);
    let form = "id=1&voucher_id=1&control=paused&delta=1&reason=x&title=x&sub_title=x&rules=x&pay_value=1\
                &actual_value=1&stock=1&begins_at=2030-01-01T00:00&ends_at=2030-01-02T00:00&form[title]=x";
    for name in server_functions("admin") {
        let path = format!("/api/fn/{name}");
        for (token, wanted) in [
            ("", StatusCode::UNAUTHORIZED),
            (shopper.as_str(), StatusCode::FORBIDDEN),
        ] {
            let call = shop
                .as_user(Method::POST, &path, token)
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form);
            let status = call.send().await.unwrap().status();
            // A form that can't be read is refused before anybody asks who sent it.
            assert!(status == wanted || status == 400, "{path}: {status}");
        }
    }
    for page in ["/admin", "/admin/vouchers/new", "/admin/vouchers/1"] {
        let stranger = shop.get(page).await.status();
        assert!(stranger.is_redirection() || stranger == 401, "{page}: {stranger}");
        let shopper = shop
            .as_user(Method::GET, page, &shopper)
            .send()
            .await
            .unwrap()
            .status();
        assert!(
            shopper.is_redirection() || shopper == 403 || shopper == 404,
            "{page}: {shopper}"
        );
    }
    let operator = shop.log_in(OPERATOR, None).await;
    let audit = shop.as_user(Method::GET, "/api/v1/admin/vouchers/1/audit", &operator);
    let audit: Value = audit.send().await.unwrap().json().await.unwrap();
    let told = audit["lines"].as_array().unwrap();
    assert!(
        told.iter()
            .all(|line| line["action"] == "created" && line["actor"].is_null()),
        "{audit}"
    );
    shop.close().await;
}
