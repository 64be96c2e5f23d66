//! How often, how many, how large, how slow.

use std::time::{Duration, Instant};

use reqwest::{Method, header};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::shop::{Shop, problem};

#[tokio::test]
async fn r01_fifty_parallel_grabs_of_one_user_give_one_order_and_no_limit() {
    let shop = Shop::open().await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let path = format!("/api/v1/vouchers/{voucher}/grab");
    let tasks: Vec<_> = (0..50)
        .map(|_| tokio::spawn(shop.as_user(Method::POST, &path, &user).send()))
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap().unwrap().status().as_u16());
    }
    answers.sort_unstable();
    let mut wanted = vec![409; 50];
    wanted[0] = 202;
    assert_eq!(answers, wanted);
    shop.close().await;
}

#[tokio::test]
async fn r66_a_script_is_slowed_down_and_others_are_not() {
    let shop = Shop::open().await;
    let (voucher, users) = (shop.open_voucher().await, shop.shoppers(2));
    let began = Instant::now();
    let (mut passed, mut limited) = (0.0, 0);
    for _ in 0..400 {
        let answer = shop.grab(&voucher, &users[0]).await;
        if answer.status() == 429 {
            assert_eq!(answer.headers()[header::RETRY_AFTER], "1");
            limited += 1;
        } else {
            passed += 1.0;
        }
    }
    let most = 100.0 + 20.0 * began.elapsed().as_secs_f64() + 1.0;
    assert!(
        limited > 0 && passed >= 100.0 && passed <= most,
        "{passed} of {most}"
    );
    assert_eq!(shop.grab(&voucher, &users[1]).await.status(), 202);
    shop.close().await;
}

#[tokio::test]
async fn a_rate_of_zero_is_no_limit() {
    let shop = Shop::open_with(&["--grab-rate", "0"]).await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    for _ in 0..300 {
        assert_ne!(shop.grab(&voucher, &user).await.status(), 429);
    }
    shop.close().await;
}

#[tokio::test]
async fn an_address_is_the_rightmost_hop_that_is_not_ours() {
    let limits = ["--address-login-burst", "3", "--address-login-rate", "0.001"];
    let shop = Shop::open_with(&limits).await;
    let try_from = async |hops: String| {
        let call = shop
            .call(Method::POST, "/api/v1/session")
            .header("x-forwarded-for", hops)
            .json(&json!({"phone": "13912345678", "code": "000000"}));
        call.send().await.unwrap().status().as_u16()
    };
    for n in 0..3 {
        assert_eq!(try_from(format!("1.1.1.{n}, 9.9.9.9")).await, 422);
    }
    assert_eq!(
        try_from("7.7.7.7, 9.9.9.9".into()).await,
        429,
        "a forged first hop is no way out"
    );
    assert_eq!(
        try_from("9.9.9.9, 8.8.8.8".into()).await,
        422,
        "others are not counted with it"
    );
    shop.close().await;
}

#[tokio::test]
async fn more_grabs_than_a_process_takes_are_told_so_at_once() {
    let shop = Shop::open_with(&["--grabs-in-flight", "0"]).await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let refused = shop.grab(&voucher, &user).await;
    assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
    assert_eq!(problem(refused).await, (503, "busy".to_owned()));
    let hmdp = shop.call(Method::POST, &format!("/hmdp/voucher-order/seckill/{voucher}"));
    let body: serde_json::Value = hmdp.send().await.unwrap().json().await.unwrap();
    assert_eq!(body["success"], false);
    shop.close().await;
}

#[tokio::test]
async fn who_and_how_many_is_not_the_clients_to_say() {
    let shop = Shop::open().await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let path = format!("/api/v1/vouchers/{voucher}/grab");
    for body in [
        json!({"quantity": 5}),
        json!({"user_id": "1"}),
        json!({"userId": 1, "count": -1}),
    ] {
        let call = shop.as_user(Method::POST, &path, &user).json(&body);
        assert_eq!(problem(call.send().await.unwrap()).await.0, 422, "{body}");
    }
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
async fn a_body_of_ten_megabytes_is_refused_and_the_service_goes_on() {
    let shop = Shop::open().await;
    for path in ["/api/v1/session", "/api/fn/log_in", "/hmdp/user/login"] {
        let body = format!("{{\"phone\":\"{}\"}}", "1".repeat(10_000_000));
        let call = shop
            .call(Method::POST, path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(body);
        // Refused before it was all sent: the connection may end under the client's hands.
        if let Ok(answer) = call.send().await {
            assert!(answer.status().is_client_error(), "{path}: {}", answer.status());
        }
        assert_eq!(shop.get("/healthz").await.status(), 200);
    }
    shop.close().await;
}

#[tokio::test]
async fn slow_heads_are_cut_off_and_harm_nobody() {
    let shop = Shop::open_with(&["--header-timeout-ms", "1500", "--connections", "3000"]).await;
    let mut slow = Vec::new();
    for n in 0..4000 {
        let Ok(mut stream) = TcpStream::connect(shop.address).await else {
            continue;
        };
        // Some say nothing at all, some begin and never end.
        if n % 2 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow:").await;
        }
        slow.push(stream);
    }
    assert!(slow.len() > 3000, "{} connections", slow.len());
    for stream in &mut slow {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "a slow connection was kept");
    }
    assert_eq!(shop.get("/healthz").await.status(), 200);
    let metrics = shop.get("/metrics").await.text().await.unwrap();
    assert!(
        !metrics.contains("seckill_connections_refused_total 0\n"),
        "more than 3000 were let in"
    );
    shop.close().await;
}

#[tokio::test]
async fn one_address_does_not_take_the_connections_of_all() {
    // Here the loopback is no proxy: it is one household among others.
    let limits = ["--trusted-proxies", "10.0.0.0/8", "--address-connections", "20"];
    let shop = Shop::open_with(&limits).await;
    let mut greedy = Vec::new();
    for _ in 0..40 {
        greedy.extend(TcpStream::connect(shop.address).await.ok());
    }
    let neighbour = reqwest::Client::builder()
        .local_address(std::net::IpAddr::from([127, 0, 0, 2]))
        .build()
        .unwrap();
    let url = format!("http://{}", shop.address);
    let page = neighbour.get(format!("{url}/healthz")).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(shop.call(Method::GET, "/healthz").send().await.is_err());
    drop(greedy);
    let metrics = neighbour.get(format!("{url}/metrics")).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let refused = metrics
        .lines()
        .find_map(|line| line.strip_prefix("seckill_connections_refused_total "));
    assert!(refused.unwrap().parse::<u32>().unwrap() > 20, "{refused:?}");
    shop.close().await;
}

#[tokio::test]
async fn slow_bodies_keep_no_place_from_those_who_grab() {
    let shop = Shop::open_with(&["--grabs-in-flight", "4"]).await;
    let (voucher, user) = (shop.open_voucher().await, shop.shoppers(1).remove(0));
    let mut slow = Vec::new();
    for path in [
        format!("/api/v1/vouchers/{voucher}/grab"),
        format!("/hmdp/voucher-order/seckill/{voucher}"),
        "/api/fn/grab".to_owned(),
    ] {
        for _ in 0..4 {
            let mut stream = TcpStream::connect(shop.address).await.unwrap();
            let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{{");
            stream.write_all(head.as_bytes()).await.unwrap();
            slow.push(stream);
        }
    }
    assert_eq!(shop.grab(&voucher, &user).await.status(), 202);
    for stream in &mut slow {
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "a slow connection was kept");
        let answer = String::from_utf8_lossy(&answer);
        let refused =
            answer.starts_with("HTTP/1.1 408") || answer.contains("\"errorMsg\":\"请求无效，请重试\"");
        assert!(refused, "{answer}");
    }
    shop.close().await;
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let shop = Shop::open().await;
    let mut stream = TcpStream::connect(shop.address).await.unwrap();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n",
        "x".repeat(200_000)
    );
    let _ = stream.write_all(head.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    assert_eq!(shop.get("/healthz").await.status(), 200);
    shop.close().await;
}

#[tokio::test]
async fn streams_are_counted_by_session() {
    let shop = Shop::open_with(&["--session-streams", "2"]).await;
    let users = shop.shoppers(2);
    let listen = async |user: &str| {
        let call = shop.as_user(Method::GET, "/api/v1/events", user);
        call.send().await.unwrap()
    };
    let (first, second) = (listen(&users[0]).await, listen(&users[0]).await);
    assert_eq!((first.status().as_u16(), second.status().as_u16()), (200, 200));
    assert_eq!(problem(listen(&users[0]).await).await, (503, "busy".to_owned()));
    assert_eq!(
        listen(&users[1]).await.status(),
        200,
        "others have places of their own"
    );
    drop(first);
    // The place is free as soon as the server has noticed.
    let began = Instant::now();
    while listen(&users[0]).await.status() != 200 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "the place did not come back"
        );
    }
    shop.close().await;
}
