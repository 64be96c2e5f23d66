//! Stores that die, stall, forget and refuse.

use super::Scenario;
use crate::{
    check::{Expect, Verdict, judge},
    load::Load,
    server::Spec,
    shop::Setup,
    stage::Stage,
};
use std::time::Duration;

/// Some grabs are accepted within this.
const SOON: Duration = Duration::from_secs(20);

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
    Scenario::new("K36", "PostgreSQL is stopped at once, then killed", |stage| {
        Box::pin(ledger_dies(stage))
    })
    .quick(),
];

async fn redis_dies(stage: &Stage, fsync: &'static str) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            fsync,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    shop.add(Spec::both()).await?;
    let load = shop.load(Load::mixed(400, 150));
    shop.accepted(40, SOON).await?;
    shop.redis.kill();
    shop.redis.restart().await?;
    shop.did("kill -9 of Redis, start");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn ledger_dies(stage: &mut Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    shop.add(Spec::worker()).await?;
    let load = shop.load(Load::mixed(500, 100));
    shop.accepted(30, SOON).await?;
    stage.cluster.stop_at_once().await?;
    let before = shop.crowd.history.accepted();
    shop.accepted(before + 30, SOON).await?;
    shop.also("grabs go on without the ledger", true);
    stage.cluster.restart().await?;
    shop.accepted(before + 40, SOON).await?;
    stage.cluster.kill();
    stage.cluster.restart().await?;
    shop.did("immediate stop, 30 grabs, start; kill -9, start");
    load.done().await;
    judge(shop, Expect::default()).await
}
