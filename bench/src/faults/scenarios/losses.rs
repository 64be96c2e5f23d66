//! Redis that dies, comes back, and has forgotten something or everything.

use std::time::Duration;

use super::{
    Scenario,
    parts::{SOON, not_ready, sold, sold_out, staffed},
};
use crate::{
    check::{Expect, Verdict, judge},
    history::Outcome,
    instance::Spec,
    load::Load,
    shop::{Setup, Shop},
    stage::Stage,
    wait,
};

/// What was accepted so long before a loss may not have reached the ledger yet.
const UNSETTLED: u64 = 1500;

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new(
        "K22",
        "Redis (everysec) is killed and starts on its data",
        |stage| Box::pin(redis_dies(stage, "everysec")),
    ),
    Scenario::new(
        "K23",
        "Redis (always) is killed and starts on its data",
        |stage| Box::pin(redis_dies(stage, "always")),
    )
    .quick(),
    Scenario::new(
        "K24",
        "power loss: the last second of the append-only file is cut off",
        |stage| Box::pin(power_loss(stage)),
    ),
    Scenario::new("K25", "Redis comes back empty", |stage| {
        Box::pin(forgets(stage, true, false))
    }),
    Scenario::new("K26", "FLUSHALL during the sale", |stage| {
        Box::pin(forgets(stage, false, false))
    })
    .quick(),
    Scenario::new(
        "K25-alone",
        "Redis comes back empty while the only worker is down",
        |stage| Box::pin(forgets(stage, true, true)),
    ),
    Scenario::new("K26-alone", "FLUSHALL while the only worker is down", |stage| {
        Box::pin(forgets(stage, false, true))
    }),
    Scenario::new("K27-stream", "the stream is deleted with orders in it", |stage| {
        Box::pin(stream_lost(stage))
    }),
    Scenario::new("K27-group", "the group is destroyed under load", |stage| {
        Box::pin(group_lost(stage))
    })
    .quick(),
    Scenario::new("K27-claims", "the claims are deleted under load", |stage| {
        Box::pin(claims_lost(stage))
    }),
    Scenario::new("K29", "SCRIPT FLUSH under load", |stage| {
        Box::pin(scripts_lost(stage))
    })
    .quick(),
    Scenario::new(
        "K23-late",
        "Redis (always) is killed twice with everything unsettled",
        |stage| Box::pin(dies_unsettled(stage)),
    ),
];

/// Ids accepted in the last moments before a loss: so many may be gone.
fn at_risk(shop: &Shop, lost_at: u64) -> usize {
    shop.crowd
        .history
        .count_since(lost_at.saturating_sub(UNSETTLED), sold)
}

async fn redis_dies(stage: &Stage, fsync: &'static str) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            fsync,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(400, 150));
    shop.accepted(40, SOON).await?;
    shop.redis.kill();
    shop.redis.restart().await?;
    shop.did("kill -9 of Redis, start");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn power_loss(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut random = fastrand::Rng::with_seed(stage.seed_for(24));
    let setup = Setup {
        stock: 400,
        people: 500,
        fsync: "everysec",
        ..Setup::default()
    };
    let mut shop = staffed(stage, setup).await?;
    let load = shop.load(Load::mixed(900, 120));
    shop.accepted(60, SOON).await?;
    let safe = newest_log(&shop)?.1;
    let safe_at = shop.crowd.history.now();
    tokio::time::sleep(Duration::from_millis(900)).await;
    shop.redis.kill();
    let (file, end) = newest_log(&shop)?;
    let cut = random.u64(safe..=end);
    std::fs::File::options().write(true).open(file)?.set_len(cut)?;
    let lost = shop.crowd.history.count_since(safe_at, sold);
    shop.redis.restart().await?;
    shop.did(format!("kill -9, {} bytes cut off the log, start", end - cut));
    load.done().await;
    judge(
        shop,
        Expect {
            may_lose: lost,
            ..Expect::default()
        },
    )
    .await
}

/// The append-only file that is written to, and its length.
fn newest_log(shop: &Shop) -> anyhow::Result<(std::path::PathBuf, u64)> {
    let mut logs = Vec::new();
    for entry in std::fs::read_dir(shop.redis.append_folder())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().contains(".incr.") {
            logs.push((entry.path(), entry.metadata()?.len()));
        }
    }
    logs.sort();
    logs.pop()
        .ok_or_else(|| anyhow::anyhow!("there is no append-only file"))
}

/// Everything in Redis is gone while people come. `unguarded`: the only worker is down, so that nobody rebuilds until it
/// is back.
async fn forgets(stage: &Stage, with_restart: bool, unguarded: bool) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 700,
            people: 900,
            ..Setup::default()
        },
    )
    .await?;
    let worker = shop.servers.len() - 1;
    let load = shop.load(Load::mixed(1100, 80));
    shop.accepted(80, SOON).await?;
    let history = shop.crowd.history.clone();
    let lost_at = history.now();
    if unguarded {
        shop.servers[worker].kill();
    }
    if with_restart {
        shop.redis.lose_everything()?;
        shop.redis.restart().await?;
    } else {
        shop.redis.run::<()>(&["FLUSHALL"]).await?;
    }
    let may_lose = at_risk(&shop, lost_at);
    let back_at = history.now();
    shop.did(if with_restart {
        "kill -9, start without data"
    } else {
        "FLUSHALL"
    });
    if unguarded {
        wait::until("\"not ready\" is told", SOON, async || {
            Ok(history.first_since(lost_at, not_ready).is_some())
        })
        .await?;
        shop.again(worker).await?;
        shop.did("the worker, killed before it, starts");
    }
    let again_at = history.now();
    wait::until("units are sold again", SOON, async || {
        Ok(history.first_since(back_at, sold).is_some())
    })
    .await?;
    let told = history.first_since(back_at, |outcome| not_ready(outcome) || sold(outcome));
    let told = told.map_or(u64::MAX, |at| at - back_at);
    let selling = history.first_since(back_at, sold);
    let selling = selling.map_or(u64::MAX, |at| at.saturating_sub(again_at.min(at)));
    let refusals = history.count_since(back_at, not_ready);
    shop.did(format!(
        "an answer after {told} ms, {refusals} times \"not ready\", sold again after {selling} ms"
    ));
    shop.also(
        "\"not ready\", or sold already from the rebuilt copy, within a second",
        told <= 1000,
    );
    shop.also("sold again within ten seconds", selling <= 10_000);
    let wrongly = history.count_since(lost_at, sold_out);
    shop.also("nobody was told \"sold out\" while units were left", wrongly == 0);
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

async fn stream_lost(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    shop.load(Load::mixed(80, 200)).done().await;
    shop.redis.run::<i64>(&["DEL", "stream.orders:{p0}"]).await?;
    shop.did("80 grabs without a consumer, DEL of the stream, a consumer");
    shop.add(Spec::worker()).await?;
    shop.load(Load::mixed(100, 100)).done().await;
    judge(
        shop,
        Expect {
            swept: true,
            ..Expect::default()
        },
    )
    .await
}

async fn group_lost(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(400, 150));
    for _ in 0..5 {
        let before = shop.crowd.history.accepted();
        shop.accepted(before + 15, SOON).await?;
        shop.redis
            .run::<i64>(&["XGROUP", "DESTROY", "stream.orders:{p0}", "g1"])
            .await?;
    }
    shop.did("five times XGROUP DESTROY");
    load.done().await;
    judge(
        shop,
        Expect {
            swept: true,
            ..Expect::default()
        },
    )
    .await
}

async fn claims_lost(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(500, 100));
    shop.accepted(50, SOON).await?;
    shop.redis.run::<i64>(&["DEL", &shop.claims_key()]).await?;
    shop.did("DEL of the claims");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn scripts_lost(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(400, 150));
    let mut flushes = 0;
    while load.goes_on() {
        shop.redis.run::<()>(&["SCRIPT", "FLUSH"]).await?;
        flushes += 1;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    shop.did(format!("{flushes} times SCRIPT FLUSH"));
    // A flush can fall between loading the script and running it: then the client is asked to come again.
    let unknown = shop
        .crowd
        .history
        .count_since(0, |outcome| matches!(outcome, Outcome::Unknown(_)));
    shop.also("no client, or one in a hundred, noticed", unknown <= 4);
    judge(shop, Expect::default()).await
}

/// Everything accepted is in the stream alone when Redis dies; the rebuild must wait until it is settled.
async fn dies_unsettled(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    shop.load(Load::mixed(100, 200)).done().await;
    shop.redis.restart().await?;
    shop.load(Load::mixed(60, 200)).done().await;
    shop.redis.restart().await?;
    shop.did("160 turns without a worker, kill -9 of Redis after each part, a worker");
    shop.add(Spec::worker()).await?;
    shop.load(Load::mixed(150, 100)).done().await;
    judge(shop, Expect::default()).await
}
