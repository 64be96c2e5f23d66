//! Everything at once (K53), and one thing after the other for a long time (K54).

use std::time::Duration;

use super::Scenario;
use crate::{
    check::{Expect, Verdict, judge},
    instance::Spec,
    load::Load,
    shop::Setup,
    stage::Stage,
};

/// Kills in a storm.
const KILLS: usize = 20;
/// Some grabs are accepted within this after all runs again.
const SOON: Duration = Duration::from_secs(30);

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[Scenario::new(
    "K53",
    "twenty times: everything is killed in random order and started in random order, under load",
    |stage| Box::pin(storm(stage)),
)];

/// What can be killed.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Server(usize),
    Redis,
    Ledger,
}

async fn storm(stage: &mut Stage) -> anyhow::Result<Verdict> {
    let mut random = fastrand::Rng::with_seed(stage.seed_for(53));
    let mut shop = stage
        .open(Setup {
            stock: 700,
            people: 900,
            ..Setup::default()
        })
        .await?;
    for spec in [Spec::web(), Spec::web(), Spec::worker(), Spec::worker()] {
        shop.add(spec).await?;
    }
    let mut victims = vec![Victim::Redis, Victim::Ledger];
    victims.extend((0..shop.servers.len()).map(Victim::Server));
    let load = shop.load(Load::mixed(100_000, 60));
    for _ in 0..KILLS {
        let before = shop.crowd.history.accepted();
        random.shuffle(&mut victims);
        for victim in &victims {
            match victim {
                Victim::Server(place) => shop.servers[*place].kill(),
                Victim::Redis => shop.redis.kill(),
                Victim::Ledger => stage.cluster.kill(),
            }
            // Some load falls between two kills.
            tokio::time::sleep(Duration::from_millis(random.u64(..40))).await;
        }
        random.shuffle(&mut victims);
        for victim in &victims {
            match victim {
                Victim::Server(place) => shop.servers[*place].launch()?,
                Victim::Redis => shop.redis.restart_silently()?,
                Victim::Ledger => stage.cluster.restart_silently()?,
            }
            tokio::time::sleep(Duration::from_millis(random.u64(..40))).await;
        }
        stage.cluster.ready().await?;
        shop.redis.ready().await?;
        shop.revive().await?;
        let left = 700 - before.min(700);
        shop.accepted(before + left.min(15), SOON).await?;
    }
    shop.did(format!(
        "{KILLS} times kill -9 of two web servers, two consumers, Redis and PostgreSQL"
    ));
    load.stop().await;
    judge(
        shop,
        Expect {
            settle_within: Duration::from_mins(1),
            ..Expect::default()
        },
    )
    .await
}
