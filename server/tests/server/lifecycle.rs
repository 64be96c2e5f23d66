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
