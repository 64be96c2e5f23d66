//! The way between the shop and its stores: cut, silent, deaf, slow and narrow; and stores that are swapped behind it.

use std::time::Duration;

use super::{
    Scenario,
    parts::{SOON, sold},
};
use crate::{
    check::{Expect, Verdict, judge},
    crowd::PATIENCE,
    instance::Spec,
    load::Load,
    proxy::Weather,
    shop::{Setup, Shop},
    stage::Stage,
    stores::PrivateRedis,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new(
        "K42-redis",
        "the way to Redis is cut, silent, deaf, two seconds each",
        |stage| Box::pin(bad_way(stage, false)),
    ),
    Scenario::new(
        "K42-ledger",
        "the way to PostgreSQL is cut, silent, deaf, two seconds each",
        |stage| Box::pin(bad_way(stage, true)),
    ),
    Scenario::new(
        "K43",
        "Redis is 200 to 300 ms away, 1 % is lost, 10 kB/s pass",
        |stage| Box::pin(far(stage)),
    ),
    Scenario::new(
        "K34-K35",
        "fail-over to a stale replica; then the old primary comes back",
        |stage| Box::pin(stale_replica(stage)),
    ),
];

async fn staffed(stage: &Stage, setup: Setup) -> anyhow::Result<Shop> {
    let mut shop = stage
        .open(Setup {
            proxied: true,
            ..setup
        })
        .await?;
    for spec in [Spec::web(), Spec::web(), Spec::worker(), Spec::worker()] {
        shop.add(spec).await?;
    }
    Ok(shop)
}

fn weather(shop: &Shop, ledger: bool, weather: Weather) {
    let proxy = if ledger {
        &shop.ledger_proxy
    } else {
        &shop.redis_proxy
    };
    if let Some(proxy) = proxy {
        proxy.set(weather);
    }
}

async fn bad_way(stage: &Stage, ledger: bool) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 500,
            people: 700,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(900, 60));
    for bad in [Weather::Cut, Weather::BlackHole, Weather::Deaf] {
        let before = shop.crowd.history.accepted();
        shop.accepted(before + 20, SOON).await?;
        weather(&shop, ledger, bad);
        tokio::time::sleep(Duration::from_secs(2)).await;
        weather(&shop, ledger, Weather::Clear);
        shop.did(format!("{bad:?} for 2 s"));
    }
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn far(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 300,
            people: 500,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(800, 80));
    shop.accepted(20, SOON).await?;
    let far = Weather::Bad {
        delay: Duration::from_millis(100),
        jitter: Duration::from_millis(50),
        lost_one_in: 100,
        width: 10_000,
    };
    weather(&shop, false, far);
    tokio::time::sleep(Duration::from_secs(5)).await;
    weather(&shop, false, Weather::Clear);
    shop.did("100 to 150 ms each way, 1 % lost, 10 kB/s for 5 s");
    load.done().await;
    let mut took: Vec<u64> = shop
        .crowd
        .history
        .attempts()
        .iter()
        .filter(|attempt| sold(&attempt.outcome))
        .map(|attempt| attempt.ended - attempt.sent)
        .collect();
    took.sort_unstable();
    let p99 = took.get(took.len() * 99 / 100).copied().unwrap_or_default();
    shop.did(format!("p99 of accepted grabs {p99} ms"));
    shop.also(
        "p99 of accepted grabs is below the clients' patience",
        u128::from(p99) < PATIENCE.as_millis(),
    );
    judge(shop, Expect::default()).await
}

async fn stale_replica(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 500,
            people: 700,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(1100, 80));
    shop.accepted(40, SOON).await?;
    // A copy as of now, by the append-only file that a replica would have.
    let folder = shop.redis.folder().with_extension("replica");
    let mut replica = shop.redis.twin(folder).await?;
    let stale_at = shop.crowd.history.now();
    shop.accepted(100, SOON).await?;
    // The consumers wrote most of what the replica has never heard of.
    let switched_at = shop.crowd.history.now();
    aim(&shop, &replica);
    std::mem::swap(&mut shop.redis, &mut replica);
    shop.watch_again();
    let missed = shop.crowd.history.count_since(stale_at, sold);
    shop.did(format!("fail-over to a replica that missed {missed} grabs"));
    let before = shop.crowd.history.accepted();
    shop.accepted(before + 40, SOON).await?;
    let risk = shop
        .crowd
        .history
        .count_since(switched_at.saturating_sub(1500), sold);
    // And back: the old primary was never told.
    let back_at = shop.crowd.history.now();
    aim(&shop, &replica);
    std::mem::swap(&mut shop.redis, &mut replica);
    shop.watch_again();
    let before = shop.crowd.history.accepted();
    shop.accepted(before + 20, SOON).await?;
    shop.did("the old primary comes back as it was");
    let may_lose = risk + shop.crowd.history.count_since(back_at.saturating_sub(1500), sold);
    drop(replica);
    load.done().await;
    judge(
        shop,
        Expect {
            may_lose,
            ..Expect::default()
        },
    )
    .await
}

fn aim(shop: &Shop, redis: &PrivateRedis) {
    if let Some(proxy) = &shop.redis_proxy {
        proxy.aim_at(redis.socket());
    }
}
