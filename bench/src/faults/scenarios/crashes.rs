//! Processes of ours that die at every point of the pipeline.

use std::time::Duration;

use super::{
    Scenario,
    parts::{SOON, TABS, sold, tabs_learn},
};
use crate::{
    check::{Expect, Verdict, judge, settle},
    instance::Spec,
    listen::Tabs,
    load::Load,
    shop::Setup,
    stage::Stage,
    wait,
};

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
        "K4",
        "a web server dies after the answer, with tabs open on it",
        |stage| Box::pin(web_dies(stage, "P4:abort:nth=20")),
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
    Scenario::new(
        "K11",
        "a consumer dies after the acknowledgement, with tabs open",
        |stage| Box::pin(consumer_dies(stage, "C5:abort:nth=5")),
    ),
    Scenario::new(
        "K12",
        "a consumer is killed in the middle of a batch of five hundred",
        |stage| Box::pin(mid_batch(stage)),
    ),
    Scenario::new(
        "K14",
        "a consumer dies on every fiftieth order until the backlog is gone",
        |stage| Box::pin(crash_loop(stage)),
    ),
    Scenario::new(
        "K48",
        "a consumer dies between \"failed\" in the ledger and the give-back",
        |stage| Box::pin(failing_orders(stage, "K:abort:nth=5")),
    ),
    Scenario::new(
        "K48-ack",
        "a consumer dies between the give-back and the acknowledgement",
        |stage| Box::pin(failing_orders(stage, "C5:abort:nth=3")),
    ),
    Scenario::new(
        "K7-J",
        "a consumer dies while it takes over what another left",
        |stage| Box::pin(dies_claiming(stage)),
    ),
    Scenario::new("B", "the rebuild's process dies in each of its steps", |stage| {
        Box::pin(dies_rebuilding(stage))
    }),
];

/// One of two web servers dies at a point and comes back; tabs on it go to the other one.
async fn web_dies(stage: &Stage, plan: &str) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    let first = shop.add(Spec::web().fails(plan)).await?;
    shop.add(Spec::web()).await?;
    shop.add(Spec::worker()).await?;
    let tabs = Tabs::open(&shop.crowd, &shop.ports(), 0..TABS, stage.seed_for(1));
    let load = shop.load(Load::mixed(400, 150));
    shop.servers[first].dies(SOON).await?;
    shop.did(format!("{plan}, then a start"));
    shop.again(first).await?;
    load.done().await;
    tabs_learn(&mut shop, &tabs).await;
    judge(shop, Expect::default()).await
}

/// A consumer dies at a point and comes back under another name.
async fn consumer_dies(stage: &Stage, plan: &str) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    let worker = shop.add(Spec::worker().fails(plan)).await?;
    let tabs = Tabs::open(&shop.crowd, &shop.ports(), 0..TABS, stage.seed_for(1));
    let load = shop.load(Load::mixed(400, 150));
    shop.servers[worker].dies(SOON).await?;
    shop.did(format!("{plan}, then a start"));
    shop.again(worker).await?;
    load.done().await;
    tabs_learn(&mut shop, &tabs).await;
    judge(shop, Expect::default()).await
}

async fn mid_batch(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 500,
            people: 500,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    shop.load(Load {
        turns: 700,
        ..Load::mixed(700, 700)
    })
    .done()
    .await;
    let worker = shop.add(Spec::worker().fails("C2:pause:ms=5000")).await?;
    wait::until("a batch is inserted and not committed", SOON, async || {
        let open = "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%seckill_voucher%'";
        Ok(shop.database.number(open).await? > 0)
    })
    .await?;
    shop.servers[worker].kill();
    let rows = shop.database.number("SELECT count(*) FROM voucher_order").await?;
    shop.did(format!("kill -9 with a batch open; {rows} rows were left"));
    shop.also("nothing of the batch was left", rows == 0);
    shop.again(worker).await?;
    judge(shop, Expect::default()).await
}

async fn crash_loop(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 400,
            people: 500,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    // Batches of ten, and the fifth one is the last of each life.
    let spec = Spec::worker()
        .fails("C4:abort:nth=5")
        .with("SECKILL_SETTLE_BATCH", "10");
    let worker = shop.add(spec).await?;
    let load = shop.load(Load::mixed(600, 150));
    let mut lives = 1;
    let drained = wait::until(
        "the backlog is gone in spite of the crashes",
        Duration::from_secs(90),
        async || {
            if !shop.servers[worker].runs() {
                lives += 1;
                shop.servers[worker].launch()?;
            }
            Ok(!load.goes_on() && settle(&shop, Duration::ZERO).await.is_ok())
        },
    )
    .await;
    shop.did(format!("{lives} lives of one consumer"));
    shop.also("the backlog drains in spite of the crashes", drained.is_ok());
    load.done().await;
    shop.again(worker).await?;
    judge(shop, Expect::default()).await
}

/// Redis is made to believe in thirty units that the ledger does not have: orders fail, and give-backs are interrupted.
async fn failing_orders(stage: &Stage, plan: &str) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 60,
            people: 120,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    shop.redis
        .run::<i64>(&["INCRBY", &shop.stock_key(), "30"])
        .await?;
    shop.load(Load::mixed(150, 200)).done().await;
    let spec = Spec::worker().fails(plan).with("SECKILL_SETTLE_BATCH", "20");
    let worker = shop.add(spec).await?;
    shop.servers[worker].dies(SOON).await?;
    shop.did(format!("30 units too many in Redis; {plan}, then a start"));
    shop.again(worker).await?;
    let expect = Expect {
        extra_units: 30,
        last_call: false,
        ..Expect::default()
    };
    judge(shop, expect).await
}

async fn dies_claiming(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    let first = shop.add(Spec::worker().fails("C1:abort:nth=1")).await?;
    shop.load(Load::mixed(300, 300)).done().await;
    shop.servers[first].dies(SOON).await?;
    let second = shop.add(Spec::worker().fails("J:abort:nth=1")).await?;
    shop.servers[second].dies(SOON).await?;
    shop.did("C1:abort of one, J:abort of the next, a third");
    shop.again(second).await?;
    judge(shop, Expect::default()).await
}

async fn dies_rebuilding(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 200,
            people: 300,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    let worker = shop.add(Spec::worker()).await?;
    shop.load(Load::mixed(100, 200)).done().await;
    settle(&shop, SOON).await.map_err(anyhow::Error::msg)?;
    for nth in 1..=2 {
        shop.servers[worker].stop().await?;
        shop.servers[worker].tell("FAILPOINT", format!("B:abort:nth={nth}"));
        shop.servers[worker].launch()?;
        shop.redis.run::<()>(&["DEL", &shop.stock_key()]).await?;
        shop.servers[worker].dies(SOON).await?;
    }
    shop.did("the stock is deleted; B:abort in its first, then in its second step; a start");
    let load = shop.load(Load::mixed(1500, 50));
    let history = shop.crowd.history.clone();
    let died_at = history.now();
    shop.again(worker).await?;
    wait::until("units are sold again", SOON, async || {
        Ok(history.first_since(died_at, sold).is_some())
    })
    .await?;
    let after = history
        .first_since(died_at, sold)
        .map_or(u64::MAX, |at| at - died_at);
    shop.did(format!("sold again {after} ms after the last death"));
    load.stop().await;
    judge(shop, Expect::default()).await
}
