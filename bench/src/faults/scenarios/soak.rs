//! One fault after the other, drawn by chance, for as long as one likes (K54).

use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use super::{Scenario, ledgers::HANG_UP, parts::SOON};
use crate::{
    check::{Expect, Verdict, judge},
    instance::Spec,
    load::Load,
    shop::{Setup, Shop},
    stage::Stage,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[Scenario::new(
    "K54",
    "a soak: one random fault after the other (--soak SECONDS)",
    |stage| Box::pin(soak(stage)),
)];

/// Kinds of faults.
const KINDS: u32 = 10;
/// A process that grows by more than this many kilobytes during a soak leaks.
const MAY_GROW: u64 = 64 * 1024;

async fn soak(stage: &mut Stage) -> anyhow::Result<Verdict> {
    let mut random = fastrand::Rng::with_seed(stage.seed_for(54));
    let seconds = stage.soak;
    let people = u32::try_from(seconds)? * 40 + 200;
    let setup = Setup {
        stock: i64::from(people) * 3 / 4,
        people,
        ..Setup::default()
    };
    let mut shop = stage.open(setup).await?;
    for spec in [Spec::web(), Spec::web(), Spec::worker(), Spec::worker()] {
        shop.add(spec).await?;
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let load = shop.load(Load::mixed(usize::MAX, 60));
    shop.accepted(100, SOON).await?;
    let before = shop.steward_memory()?;
    let mut faults = 0;
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(random.u64(200..2500))).await;
        break_something(stage, &mut shop, &mut random).await?;
        faults += 1;
        shop.revive().await?;
    }
    let after = shop.steward_memory()?;
    load.stop().await;
    shop.did(format!(
        "{faults} faults in {seconds} s; the unharmed server grew from {before} to {after} kB"
    ));
    shop.also("memory is flat", after.saturating_sub(before) <= MAY_GROW);
    let expect = Expect {
        settle_within: Duration::from_mins(1),
        ..Expect::default()
    };
    judge(shop, expect).await
}

async fn break_something(
    stage: &mut Stage,
    shop: &mut Shop,
    random: &mut fastrand::Rng,
) -> anyhow::Result<()> {
    let server = random.usize(..shop.servers.len());
    match random.u32(..KINDS) {
        0 | 1 => shop.servers[server].kill(),
        2 => drop(shop.servers[server].stop().await?),
        3 => {
            shop.servers[server].signal(Signal::STOP)?;
            tokio::time::sleep(Duration::from_secs(2)).await;
            shop.servers[server].signal(Signal::CONT)?;
        }
        4 => shop.redis.restart().await?,
        5 => {
            shop.redis.signal(Signal::STOP)?;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            shop.redis.signal(Signal::CONT)?;
        }
        6 => {
            stage.cluster.stop_at_once().await?;
            stage.cluster.restart().await?;
        }
        7 => shop.database.run(HANG_UP).await?,
        8 => shop.redis.run::<()>(&["SCRIPT", "FLUSH"]).await?,
        _ => drop(
            shop.redis
                .run::<i64>(&["XGROUP", "DESTROY", "stream.orders:{p0}", "g1"])
                .await?,
        ),
    }
    Ok(())
}
