//! What several scenarios share.

use std::time::Duration;

use crate::{
    history::Outcome,
    instance::Spec,
    listen::Tabs,
    shop::{Setup, Shop},
    stage::Stage,
    wait,
};

/// What is to happen while the load runs happens within this.
pub(super) const SOON: Duration = Duration::from_secs(30);
/// Tabs that listen.
pub(super) const TABS: usize = 20;

/// Whether the answer was "the sale is being prepared".
pub(super) fn not_ready(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::NotYet(code) if code.contains("not_ready"))
}

/// Whether the answer was an order, new or old.
pub(super) const fn sold(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Queued(_))
}

/// Whether the answer was "all units are gone".
pub(super) fn sold_out(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refused(code) if code == "sold_out")
}

/// Every tab learns how its owner's order ended.
pub(super) async fn tabs_learn(shop: &mut Shop, tabs: &Tabs) {
    let learnt = wait::until("every tab knows", SOON, async || {
        Ok(tabs.in_the_dark(&shop.crowd).is_empty())
    });
    let learnt = learnt.await.is_ok();
    shop.also("every open tab was told how its order ended", learnt);
}

/// A shop with two web servers and a worker.
pub(super) async fn staffed(stage: &Stage, setup: Setup) -> anyhow::Result<Shop> {
    let mut shop = stage.open(setup).await?;
    for spec in [Spec::web(), Spec::web(), Spec::worker()] {
        shop.add(spec).await?;
    }
    Ok(shop)
}
