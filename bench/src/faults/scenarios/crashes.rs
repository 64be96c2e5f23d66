//! Processes of ours that die at every point of the pipeline.

use std::time::Duration;

use super::Scenario;
use crate::{
    check::{Expect, Verdict, judge},
    load::Load,
    server::Spec,
    shop::Setup,
    stage::Stage,
};

/// A fail-point is passed within this.
const SOON: Duration = Duration::from_secs(20);

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new("K1", "a web server dies before the script is sent", |stage| {
        Box::pin(web_dies(stage, "P1:abort:nth=20"))
    }),
    Scenario::new(
        "K2",
        "a web server dies after the script ran, its reply unread",
        |stage| Box::pin(web_dies(stage, "P2:abort:nth=20")),
    )
    .quick(),
    Scenario::new(
        "K3",
        "a web server dies with the reply read and nobody told",
        |stage| Box::pin(web_dies(stage, "P3:abort:nth=20")),
    ),
    Scenario::new(
        "K7",
        "a consumer dies with entries delivered and nothing written",
        |stage| Box::pin(consumer_dies(stage, "C1:abort:nth=5")),
    )
    .quick(),
    Scenario::new(
        "K8",
        "a consumer dies with rows inserted and not committed",
        |stage| Box::pin(consumer_dies(stage, "C2:abort:nth=5")),
    ),
    Scenario::new(
        "K10",
        "a consumer dies between commit and acknowledgement",
        |stage| Box::pin(consumer_dies(stage, "C4:abort:nth=5")),
    )
    .quick(),
    Scenario::new("K11", "a consumer dies after the acknowledgement", |stage| {
        Box::pin(consumer_dies(stage, "C5:abort:nth=5"))
    }),
];

/// One of two web servers dies at a point and comes back.
async fn web_dies(stage: &Stage, plan: &str) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    let first = shop.add(Spec::web().fails(plan)).await?;
    shop.add(Spec::web()).await?;
    shop.add(Spec::worker()).await?;
    let load = shop.load(Load::mixed(400, 150));
    shop.servers[first].dies(SOON).await?;
    shop.did(format!("{plan}, then a start"));
    shop.again(first).await?;
    load.done().await;
    judge(shop, Expect::default()).await
}

/// One of two consumers dies at a point and comes back under another name.
async fn consumer_dies(stage: &Stage, plan: &str) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    let first = shop.add(Spec::worker().fails(plan)).await?;
    let load = shop.load(Load::mixed(400, 150));
    shop.servers[first].dies(SOON).await?;
    shop.did(format!("{plan}, then a start"));
    shop.again(first).await?;
    load.done().await;
    judge(shop, Expect::default()).await
}
