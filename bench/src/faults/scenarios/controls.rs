//! Positive controls (K57): builds with one rule broken. A judge who finds nothing wrong with them is worth nothing.

use std::time::Duration;

use super::Scenario;
use crate::{
    check::{Expect, Verdict, judge},
    instance::Spec,
    load::Load,
    shop::{Setup, Shop},
    stage::Stage,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new(
        "K57-claim",
        "sabotage: the script does not look for an earlier order",
        |stage| Box::pin(no_claim_check(stage)),
    )
    .caught_by(&["I2", "I7"])
    .quick(),
    Scenario::new(
        "K57-stock",
        "sabotage: the script does not look at the stock",
        |stage| Box::pin(no_stock_check(stage)),
    )
    .caught_by(&["I1"])
    .quick(),
    Scenario::new(
        "K57-window",
        "sabotage: the script does not look at the window",
        |stage| Box::pin(no_window_check(stage)),
    )
    .caught_by(&["I11"])
    .quick(),
    Scenario::new(
        "K57-ack",
        "sabotage: entries are acknowledged before the commit",
        |stage| Box::pin(ack_before_commit(stage)),
    )
    .caught_by(&["I3", "I5"])
    .quick(),
    Scenario::new("K57-give-back", "sabotage: a unit is given back twice", |stage| {
        Box::pin(give_back_twice(stage))
    })
    .caught_by(&["I4", "I5"])
    .quick(),
];

async fn no_claim_check(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 300,
            people: 60,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::both().breaks("no_claim_check")).await?;
    shop.load(Load::duplicates(30, 60)).done().await;
    judge(
        shop,
        Expect {
            last_call: false,
            ..Expect::default()
        },
    )
    .await
}

async fn no_stock_check(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 20,
            people: 100,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web().breaks("no_stock_check")).await?;
    shop.load(Load::mixed(120, 150)).done().await;
    shop.add(Spec::worker().breaks("no_stock_check")).await?;
    judge(
        shop,
        Expect {
            last_call: false,
            ..Expect::default()
        },
    )
    .await
}

async fn no_window_check(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            opens_in: 60_000,
            people: 60,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::both().breaks("no_window_check")).await?;
    shop.load(Load::mixed(60, 150)).done().await;
    judge(
        shop,
        Expect {
            last_call: false,
            ..Expect::default()
        },
    )
    .await
}

async fn ack_before_commit(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage.open(Setup::default()).await?;
    shop.add(Spec::web()).await?;
    let spec = Spec::worker().breaks("ack_before_commit").fails("C4:abort:nth=5");
    let worker = shop.add(spec).await?;
    let load = shop.load(Load::mixed(200, 150));
    shop.servers[worker].dies(Duration::from_secs(20)).await?;
    shop.did("C4:abort:nth=5, then a start");
    shop.again(worker).await?;
    load.done().await;
    judge(
        shop,
        Expect {
            last_call: false,
            ..Expect::default()
        },
    )
    .await
}

/// The consumer dies after it gave failed orders' units back, and makes the give-backs again.
async fn give_back_twice(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = stage
        .open(Setup {
            stock: 40,
            people: 80,
            ..Setup::default()
        })
        .await?;
    shop.add(Spec::web()).await?;
    let worker = Spec::worker().breaks("give_back_twice");
    shop.load(Load::mixed(30, 100)).done().await;
    let person = shop.crowd.people()[0].id;
    add_second_order(&shop, person).await?;
    shop.add(worker).await?;
    shop.did("a second order of one user is put into the stream by hand");
    let added = [SECOND_ORDER].into();
    judge(
        shop,
        Expect {
            added,
            last_call: false,
            ..Expect::default()
        },
    )
    .await
}

/// An id that nothing else mints.
const SECOND_ORDER: i64 = 7;

async fn add_second_order(shop: &Shop, user: i64) -> anyhow::Result<()> {
    let (user, order, voucher) = (
        user.to_string(),
        SECOND_ORDER.to_string(),
        shop.sale.id.to_string(),
    );
    let words = [
        "XADD",
        "stream.orders:{p0}",
        "*",
        "userId",
        &user,
        "id",
        &order,
        "voucherId",
        &voucher,
        "epoch",
        "1",
    ];
    shop.redis.run::<String>(&words).await?;
    Ok(())
}
