//! What clients and operators do to the shop: many presses, restarts under load, units that come late, clocks that are off.

use std::{path::Path, time::Duration};

use super::{
    Scenario,
    parts::{SOON, sold, sold_out, tabs_learn},
};
use crate::{
    check::{Expect, Verdict, judge, settle},
    history::Outcome,
    instance::Spec,
    listen::Tabs,
    load::{self, Load, Mix},
    shop::{Setup, Shop},
    stage::Stage,
    wait,
};

/// The longest that a process may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);
/// Preloaded, it shows a process another time.
const FAKETIME: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new(
        "K5",
        "everybody presses five times at once and asks again",
        |stage| Box::pin(five_times(stage)),
    ),
    Scenario::new(
        "K5-hang-up",
        "clients hang up after 0.2 to 20 ms and ask at the end",
        |stage| Box::pin(hang_up(stage)),
    ),
    Scenario::new(
        "K6",
        "each of thirty users presses a hundred times at once, over three servers",
        |stage| Box::pin(hundred_times(stage)),
    )
    .quick(),
    Scenario::new(
        "K44",
        "the clocks of two servers are an hour off, through opening and end",
        |stage| Box::pin(wrong_clocks(stage)),
    ),
    Scenario::new("K50", "units come while everything is sold out", |stage| {
        Box::pin(units_come(stage))
    }),
    Scenario::new(
        "K52",
        "rolling restart by SIGTERM under load, with a hundred tabs open",
        |stage| Box::pin(rolling_restart(stage)),
    ),
];

async fn staffed(stage: &Stage, setup: Setup, webs: usize) -> anyhow::Result<Shop> {
    let mut shop = stage.open(setup).await?;
    for _ in 0..webs {
        shop.add(Spec::web()).await?;
    }
    shop.add(Spec::worker()).await?;
    Ok(shop)
}

async fn five_times(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default(), 2).await?;
    shop.load(Load::duplicates(200, 60)).done().await;
    judge(shop, Expect::default()).await
}

async fn hang_up(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default(), 2).await?;
    let load = Load {
        mix: Mix::Impatient,
        ..Load::mixed(500, 150)
    };
    shop.load(load).done().await;
    judge(shop, Expect::default()).await
}

async fn hundred_times(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 25,
            people: 30,
            ..Setup::default()
        },
        3,
    )
    .await?;
    let ports = shop.ports();
    for person in 0..30 {
        let mut random = fastrand::Rng::with_seed(stage.seed_for(person));
        load::press(&shop.crowd, &ports, &mut random, usize::try_from(person)?, 100).await;
    }
    shop.did("30 users, 100 parallel grabs each");
    judge(shop, Expect::default()).await
}

async fn wrong_clocks(stage: &Stage) -> anyhow::Result<Verdict> {
    let setup = Setup {
        stock: 400,
        people: 600,
        opens_in: 8000,
        lasts: 3000,
        ..Setup::default()
    };
    let mut shop = stage.open(setup).await?;
    if Path::new(FAKETIME).exists() {
        for shift in ["+1h", "-1h"] {
            let spec = Spec::web().with("LD_PRELOAD", FAKETIME).with("FAKETIME", shift);
            shop.add(spec.with("FAKETIME_DONT_FAKE_MONOTONIC", "1")).await?;
        }
        shop.did("two web servers, one an hour ahead, one behind");
    } else {
        shop.add(Spec::web()).await?;
        shop.did("libfaketime is not installed: right clocks; engine test k44 shows wrong ones");
    }
    shop.add(Spec::worker()).await?;
    let history = shop.crowd.history.clone();
    let load = shop.load(Load::mixed(100_000, 80));
    let closed = |outcome: &Outcome| matches!(outcome, Outcome::Refused(code) if code == "ended");
    wait::until("the sale ends", SOON, async || {
        Ok(history.first_since(0, closed).is_some())
    })
    .await?;
    load.stop().await;
    let early = history.count_since(
        0,
        |o| matches!(o, Outcome::Refused(code) if code == "not_started"),
    );
    shop.also(
        "people came too early, in time and too late",
        early > 0 && history.accepted() > 0,
    );
    judge(shop, Expect::default()).await
}

async fn units_come(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 40,
            people: 160,
            ..Setup::default()
        },
        3,
    )
    .await?;
    let history = shop.crowd.history.clone();
    let load = shop.load(Load::mixed(1200, 120));
    for _ in 0..3 {
        let since = history.now();
        wait::until("all is sold", SOON, async || {
            Ok(history.count_since(since, sold_out) > 20)
        })
        .await?;
        shop.restock(20).await?;
        let back_at = history.now();
        let again = wait::until("units are sold again", SOON, async || {
            Ok(history.first_since(back_at, sold).is_some())
        });
        again.await?;
        let after = history
            .first_since(back_at, sold)
            .map_or(u64::MAX, |at| at - back_at);
        shop.also(
            format!("sold again {after} ms after units came, at most 1000"),
            after <= 1000,
        );
    }
    load.done().await;
    shop.did("three times 20 units come");
    judge(shop, Expect::default()).await
}

async fn rolling_restart(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 400,
            people: 500,
            ..Setup::default()
        },
        3,
    )
    .await?;
    let tabs = Tabs::open(&shop.crowd, &shop.ports(), 0..100, stage.seed_for(1));
    let load = shop.load(Load::mixed(900, 80));
    for place in 0..shop.servers.len() {
        let before = shop.crowd.history.accepted();
        shop.accepted(before + 15, SOON).await?;
        let took = shop.servers[place].stop().await?;
        let role = shop.servers[place].role();
        shop.also(
            format!("{role}: ends after {took:.1?}, within ten seconds"),
            took.is_some_and(|took| took < GRACE),
        );
        shop.again(place).await?;
    }
    load.done().await;
    shop.did("SIGTERM and start of three web servers and the consumer, one after the other");
    let failed = shop
        .crowd
        .history
        .count_since(0, |o| matches!(o, Outcome::Unknown(why) if why != "reset"));
    shop.also(
        "no request failed, but for kept connections that were closed",
        failed == 0,
    );
    settle(&shop, SOON).await.map_err(anyhow::Error::msg)?;
    tabs_learn(&mut shop, &tabs).await;
    judge(shop, Expect::default()).await
}
