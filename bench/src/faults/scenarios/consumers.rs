//! Consumers that stop, share names, come and go, and entries that nobody should have written.

use std::{collections::BTreeSet, time::Duration};

use rustix::process::Signal;

use super::{Scenario, parts::SOON};
use crate::{
    check::{Expect, Verdict, judge, settle},
    instance::Spec,
    load::Load,
    shop::{Setup, Shop},
    stage::Stage,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new(
        "K13",
        "a consumer is stopped for twice the claim time, and wakes",
        |stage| Box::pin(sleeps(stage)),
    ),
    Scenario::new(
        "K13-commit",
        "a consumer hangs after the commit until another has taken over and finished",
        |stage| Box::pin(overtaken(stage, "C4:pause:ms=4500", 0)),
    ),
    Scenario::new(
        "K48-race",
        "a consumer hangs before a give-back until another has made it",
        |stage| Box::pin(overtaken(stage, "K:pause:ms=4500", 30)),
    ),
    Scenario::new(
        "K15",
        "poison: entries with missing, odd, unknown and huge fields",
        |stage| Box::pin(poison(stage)),
    )
    .quick(),
    Scenario::new("K16", "entries are delivered twice", |stage| {
        Box::pin(twice(stage))
    })
    .quick(),
    Scenario::new("K18", "a consumer comes back under another name", |stage| {
        Box::pin(renamed(stage))
    }),
    Scenario::new("K19", "two consumers have one name", |stage| {
        Box::pin(namesakes(stage))
    }),
    Scenario::new("K21", "one consumer, then four, then one again", |stage| {
        Box::pin(scaled(stage))
    }),
    Scenario::new(
        "R24",
        "everything is sold before the first consumer starts",
        |stage| Box::pin(late(stage)),
    ),
];

async fn sleeps(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 300,
            people: 400,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    // It holds a batch when it is stopped.
    let sleeper = shop.add(Spec::worker().fails("C2:pause:ms=400")).await?;
    let load = shop.load(Load::mixed(700, 90));
    shop.accepted(5, SOON).await?;
    shop.servers[sleeper].signal(Signal::STOP)?;
    shop.add(Spec::worker()).await?;
    tokio::time::sleep(Duration::from_secs(6)).await;
    shop.servers[sleeper].signal(Signal::CONT)?;
    shop.did("SIGSTOP for 6 s with a transaction open (claimed after 3 s), SIGCONT");
    load.done().await;
    judge(shop, Expect::default()).await
}

/// A consumer hangs at a point for longer than the claim time, and goes on after another did its work. `extra`: units
/// that only Redis believes in, so that orders fail.
async fn overtaken(stage: &Stage, plan: &str, extra: i64) -> anyhow::Result<Verdict> {
    let setup = Setup {
        stock: 100,
        people: 160,
        ..Setup::default()
    };
    let mut shop = stage.open(setup).await?;
    shop.add(Spec::web()).await?;
    shop.redis
        .run::<i64>(&["INCRBY", &shop.stock_key(), &extra.to_string()])
        .await?;
    shop.load(Load::mixed(200, 400)).done().await;
    shop.add(Spec::worker().fails(plan)).await?;
    shop.add(Spec::worker()).await?;
    shop.did(format!("{plan}; claimed after 3 s"));
    let mut verdict = settle(&shop, SOON).await;
    // The one that hung goes on after all is settled, and must not change anything.
    tokio::time::sleep(Duration::from_secs(5)).await;
    verdict = verdict.and(settle(&shop, SOON).await);
    verdict.map_err(anyhow::Error::msg)?;
    let expect = Expect {
        extra_units: extra,
        last_call: extra == 0,
        ..Expect::default()
    };
    judge(shop, expect).await
}

async fn add(shop: &Shop, fields: &[(&str, &[u8])]) -> anyhow::Result<()> {
    let mut command = redis::cmd("XADD");
    command.arg("stream.orders:{p0}").arg("*");
    for (name, value) in fields {
        command.arg(name).arg(value);
    }
    command.exec_async(&mut shop.redis.connect().await?).await?;
    Ok(())
}

async fn poison(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    for spec in [Spec::web(), Spec::worker(), Spec::worker()] {
        shop.add(spec).await?;
    }
    let load = shop.load(Load::mixed(400, 150));
    shop.accepted(20, SOON).await?;
    let (sale, user) = (shop.sale.id.to_string(), shop.crowd.people()[0].id.to_string());
    let (sale, user) = (sale.as_bytes(), user.as_bytes());
    let huge = vec![b'9'; 1 << 20];
    let bad: [&[(&str, &[u8])]; 7] = [
        &[("id", b"11"), ("voucherId", sale)],
        &[("userId", b"\xff\xfe"), ("id", b"12"), ("voucherId", sale)],
        &[("userId", user), ("id", b"word"), ("voucherId", sale)],
        &[("userId", user), ("id", b"14"), ("voucherId", b"999999999")],
        &[("userId", b"999999999"), ("id", b"15"), ("voucherId", sale)],
        &[("userId", user), ("id", &huge), ("voucherId", sale)],
        &[("nothing", b"")],
    ];
    for fields in bad {
        add(&shop, fields).await?;
    }
    load.done().await;
    shop.did("seven bad entries among good ones");
    crate::check::settle(&shop, SOON)
        .await
        .map_err(anyhow::Error::msg)?;
    let dead: usize = shop.redis.run(&["XLEN", "stream.dead:{p0}"]).await?;
    shop.also("each of the seven is in the dead stream", dead == bad.len());
    let alive = shop.servers.iter_mut().all(crate::instance::Server::runs);
    shop.also("the consumers live", alive);
    judge(shop, Expect::default()).await
}

async fn twice(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    for spec in [Spec::web(), Spec::worker(), Spec::worker()] {
        shop.add(spec).await?;
    }
    let load = shop.load(Load::mixed(400, 150));
    shop.accepted(60, SOON).await?;
    let sale = shop.sale.id.to_string();
    let mut copied = 0;
    for attempt in shop.crowd.history.attempts() {
        if let Some(order) = attempt.outcome.order() {
            let user = shop.crowd.people()[attempt.person].id.to_string();
            let order = order.to_string();
            let fields = [
                ("userId", user.as_bytes()),
                ("id", order.as_bytes()),
                ("voucherId", sale.as_bytes()),
            ];
            add(&shop, &fields).await?;
            copied += 1;
        }
    }
    shop.did(format!("{copied} entries written again by hand"));
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn renamed(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    let spec = Spec::worker()
        .fails("C1:abort:nth=5")
        .with("SECKILL_CONSUMER", "old");
    let worker = shop.add(spec).await?;
    let load = shop.load(Load::mixed(400, 150));
    shop.servers[worker].dies(SOON).await?;
    shop.servers[worker].tell("SECKILL_CONSUMER", "new");
    shop.again(worker).await?;
    shop.did("C1:abort of \"old\", a start as \"new\"");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn namesakes(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    for _ in 0..2 {
        shop.add(Spec::worker().with("SECKILL_CONSUMER", "one")).await?;
    }
    let load = shop.load(Load::mixed(500, 120));
    shop.accepted(40, SOON).await?;
    shop.servers[1].kill();
    shop.again(1).await?;
    shop.did("two consumers called \"one\"; one is killed and comes back");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn scaled(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 400,
            people: 500,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    shop.add(Spec::worker()).await?;
    let load = shop.load(Load::mixed(700, 100));
    let more = [
        shop.add(Spec::worker()).await?,
        shop.add(Spec::worker()).await?,
        shop.add(Spec::worker()).await?,
    ];
    let mut slowest = Some(Duration::ZERO);
    for place in more {
        let before = shop.crowd.history.accepted();
        shop.accepted(before + 30, SOON).await?;
        slowest = slowest
            .max(shop.servers[place].stop().await?)
            .filter(|_| slowest.is_some());
    }
    shop.also("each ends within ten seconds of SIGTERM", slowest.is_some());
    let pending = shop
        .redis
        .run::<redis::Value>(&["XPENDING", "stream.orders:{p0}", "g1"])
        .await?;
    shop.did(format!(
        "three more consumers, SIGTERM to each; pending afterwards: {}",
        pending_of(&pending)
    ));
    load.done().await;
    judge(shop, Expect::default()).await
}

fn pending_of(summary: &redis::Value) -> i64 {
    match summary {
        redis::Value::Array(parts) => match parts.first() {
            Some(redis::Value::Int(n)) => *n,
            _ => 0,
        },
        _ => 0,
    }
}

async fn late(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 600,
            people: 700,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    shop.load(Load::mixed(1000, 1000)).done().await;
    let waiting: usize = shop.redis.run(&["XLEN", "stream.orders:{p0}"]).await?;
    let ids: BTreeSet<i64> = shop
        .crowd
        .history
        .attempts()
        .iter()
        .filter_map(|a| a.outcome.order())
        .collect();
    shop.also("every accepted order waits in the stream", waiting == ids.len());
    shop.did(format!("{waiting} entries wait for the first consumer"));
    shop.add(Spec::worker()).await?;
    judge(shop, Expect::default()).await
}
