//! Starting and stopping.

use std::time::Duration;

use reqwest::Method;

use crate::shop::Shop;

#[tokio::test]
async fn it_stops_within_ten_seconds_and_says_goodbye_to_a_hundred_open_streams() {
    let mut shop = Shop::open().await;
    let voucher = shop.open_voucher().await;
    let users = shop.shoppers(10);
    let mut streams = Vec::new();
    for n in 0..100 {
        let call = shop.as_user(Method::GET, "/api/v1/events", &users[n % 10]);
        let stream = call.send().await.unwrap();
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    let metrics = shop.get("/metrics").await.text().await.unwrap();
    assert!(metrics.contains("seckill_sse_open 100\n"), "{metrics}");
    let queued = shop.grab(&voucher, &users[0]).await;
    assert_eq!(queued.status(), 202);
    let reading = tokio::spawn(async move {
        let mut goodbyes = 0;
        for mut stream in streams {
            let mut heard = String::new();
            while let Ok(Some(chunk)) = stream.chunk().await {
                heard += &String::from_utf8_lossy(&chunk);
            }
            goodbyes += usize::from(heard.contains("event: bye"));
        }
        goodbyes
    });
    let (shop, took) = tokio::task::spawn_blocking(move || {
        let took = shop.stop();
        (shop, took)
    })
    .await
    .unwrap();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(reading.await.unwrap(), 100);
    shop.close().await;
}

#[tokio::test]
async fn the_doctor_finds_nothing_in_a_healthy_shop_and_says_what_to_do_in_a_sick_one() {
    let shop = Shop::open().await;
    let doctor = |name: &str, value: &str| {
        let mut command = shop.command(&["doctor"]);
        let output = command.env(name, value).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (well, report) = doctor("SECKILL_DEMO", "false");
    assert!(well && report.contains("the schema is up to date"), "{report}");
    let (well, report) = doctor("SECKILL_REDIS_URL", "redis+unix:///nowhere");
    assert!(!well && report.contains("correct SECKILL_REDIS_URL"), "{report}");
    let (well, report) = doctor("SECKILL_PAGE_CONNECTIONS", "5000");
    assert!(!well && report.contains("raise max_connections"), "{report}");
    let (well, report) = doctor("SECKILL_CLAIM_IDLE_MS", "100");
    assert!(!well && report.contains("claim idle"), "{report}");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--page-connections", "5000"];
    let refused = shop.command(&serve).output().unwrap();
    assert!(!refused.status.success(), "it is not to start like this");
    shop.close().await;
}

#[tokio::test]
async fn metrics_tell_of_streams_pools_and_routes() {
    let shop = Shop::open().await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    shop.grab(&voucher, &user).await;
    let metrics = shop.get("/metrics").await.text().await.unwrap();
    for wanted in [
        "seckill_stream_oldest_seconds{partition=\"0\"}",
        "seckill_pool_connections{pool=\"pages\",state=\"max\"} 8",
        "seckill_grabs_total{kind=\"queued\"} 1",
        "http_request_duration_seconds_count{route=\"/api/v1/vouchers/{id}/grab\",status=\"2xx\"} 1",
        "seckill_redis_up 1",
    ] {
        assert!(metrics.contains(wanted), "{wanted} is not in {metrics}");
    }
    shop.close().await;
}
