//! Redis that lives and does not answer, or refuses.

use std::time::Duration;

use rustix::process::Signal;

use super::{
    Scenario,
    parts::{SOON, sold, staffed},
};
use crate::{
    check::{Expect, Verdict, judge},
    history::Outcome,
    load::Load,
    shop::Setup,
    stage::Stage,
    wait,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new("K30", "Redis stops for five seconds", |stage| {
        Box::pin(stalls(stage))
    })
    .quick(),
    Scenario::new("K31", "Redis loads for seconds after a start", |stage| {
        Box::pin(loads_slowly(stage))
    }),
    Scenario::new("K32", "Redis has no memory left", |stage| {
        Box::pin(no_memory(stage))
    }),
    Scenario::new(
        "R36",
        "servers refuse a Redis that evicts, or that keeps nothing",
        |stage| Box::pin(refused_settings(stage)),
    ),
    Scenario::new("R39", "Redis becomes a replica for two seconds", |stage| {
        Box::pin(read_only(stage))
    }),
    Scenario::new(
        "K32-misconf",
        "Redis stops taking writes because it could not save",
        |stage| Box::pin(misconfigured(stage)),
    ),
    Scenario::new(
        "K42-resets",
        "every connection to Redis is reset every 150 ms",
        |stage| Box::pin(resets(stage)),
    ),
];

async fn stalls(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 400,
            people: 600,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(700, 80));
    shop.accepted(40, SOON).await?;
    shop.redis.signal(Signal::STOP)?;
    let stopped_at = shop.crowd.history.now();
    tokio::time::sleep(Duration::from_secs(5)).await;
    shop.redis.signal(Signal::CONT)?;
    let history = shop.crowd.history.clone();
    let back_at = history.now();
    shop.did("SIGSTOP for 5 s, SIGCONT");
    let failed = history.count_since(stopped_at, |o| matches!(o, Outcome::Refused(_)));
    shop.also("nobody was refused meanwhile", failed == 0);
    wait::until("units are sold again", SOON, async || {
        Ok(history.first_since(back_at, sold).is_some())
    })
    .await?;
    let selling = history
        .first_since(back_at, sold)
        .map_or(u64::MAX, |at| at - back_at);
    shop.did(format!("sold again after {selling} ms"));
    shop.also("sold again within five seconds", selling <= 5000);
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn loads_slowly(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 400,
            people: 600,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(800, 80));
    shop.accepted(100, SOON).await?;
    // Each command of the log takes this many microseconds, and clients are answered in between.
    shop.redis.set("--key-load-delay", "2000");
    shop.redis.set("--loading-process-events-interval-bytes", "2048");
    let down_at = shop.crowd.history.now();
    shop.redis.restart_silently()?;
    shop.redis.ready().await?;
    let took = shop.crowd.history.now() - down_at;
    shop.did(format!("kill -9, a start that loads for {took} ms"));
    let refused = shop
        .crowd
        .history
        .count_since(down_at, |o| matches!(o, Outcome::Refused(_)));
    let errors = shop.crowd.history.count_since(
        down_at,
        |o| matches!(o, Outcome::Unknown(code) if code.starts_with("500")),
    );
    shop.also("nobody was refused meanwhile", refused == 0);
    shop.also("no internal error was answered", errors == 0);
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn no_memory(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(500, 120));
    shop.accepted(40, SOON).await?;
    shop.redis
        .run::<()>(&["CONFIG", "SET", "maxmemory", "1mb"])
        .await?;
    let full_at = shop.crowd.history.now();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    // An attempt that was sent before may have been accepted after.
    let sold = shop.crowd.history.count_since(full_at + 20, sold);
    shop.also("nothing is sold without memory", sold == 0);
    shop.redis.run::<()>(&["CONFIG", "SET", "maxmemory", "0"]).await?;
    shop.did("maxmemory 1 MB for 1.5 s");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn refused_settings(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    for (setting, bad, good) in [
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("appendonly", "no", "yes"),
    ] {
        shop.redis.run::<()>(&["CONFIG", "SET", setting, bad]).await?;
        shop.servers[0].stop().await?;
        shop.servers[0].launch()?;
        let refuses = shop.servers[0].dies(SOON).await.is_ok();
        shop.also(format!("a server does not start with {setting} {bad}"), refuses);
        shop.redis.run::<()>(&["CONFIG", "SET", setting, good]).await?;
        shop.did(format!("{setting} {bad}"));
    }
    shop.again(0).await?;
    shop.load(Load::mixed(200, 200)).done().await;
    judge(shop, Expect::default()).await
}

async fn read_only(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(500, 120));
    shop.accepted(40, SOON).await?;
    // Nobody answers there; a replica without its primary keeps what it has and takes no writes.
    shop.redis.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    shop.redis.run::<()>(&["REPLICAOF", "NO", "ONE"]).await?;
    shop.did("REPLICAOF for 2 s, REPLICAOF NO ONE");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn misconfigured(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(500, 120));
    shop.accepted(40, SOON).await?;
    // A folder stands where the file is to be: the save fails.
    let file = shop.redis.folder().join("dump.rdb");
    std::fs::create_dir(&file)?;
    shop.redis
        .run::<()>(&["CONFIG", "SET", "save", "3600 1000000"])
        .await?;
    shop.redis.run::<String>(&["BGSAVE"]).await?;
    wait::until("the save has failed", SOON, async || {
        let info: String = shop.redis.run(&["INFO", "persistence"]).await?;
        Ok(info.contains("rdb_last_bgsave_status:err"))
    })
    .await?;
    let refuses_at = shop.crowd.history.now();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let sold = shop.crowd.history.count_since(refuses_at + 20, sold);
    shop.also("nothing is sold meanwhile", sold == 0);
    shop.redis.run::<()>(&["CONFIG", "SET", "save", ""]).await?;
    std::fs::remove_dir(&file)?;
    shop.did("a failed save for 1.5 s");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn resets(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 250,
            people: 400,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(500, 100));
    let mut times = 0;
    while load.goes_on() && times < 60 {
        shop.redis
            .run::<i64>(&["CLIENT", "KILL", "TYPE", "normal"])
            .await?;
        times += 1;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    shop.did(format!("{times} times CLIENT KILL TYPE normal"));
    load.done().await;
    judge(
        shop,
        Expect {
            max_deliveries: times + 5,
            ..Expect::default()
        },
    )
    .await
}
