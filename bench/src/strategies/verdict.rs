//! The same three runs and the same checker for every strategy: a calm one for speed, a rough one with pauses in the worst
//! places, and one that is killed.

use std::{collections::HashSet, sync::Arc};

use anyhow::{Context, Result};
use serde::Serialize;

use super::{
    Kind, Venue,
    drive::{Told, drive},
    kill::lost_after_kill,
    open,
    prepare::Ground,
};
use crate::load::Quantiles;

/// Shoppers of the rough run.
const ROUGH: i64 = 250;

/// A strategy's line in the table.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: &'static str,
    /// Answers a second.
    pub(crate) answered: f64,
    /// Units granted a second.
    pub(crate) accepted: f64,
    /// Orders written a second, from the first attempt to the last row.
    pub(crate) settled: f64,
    /// Milliseconds.
    pub(crate) p99: f64,
    /// Orders beyond the stock, in the worse of the runs.
    pub(crate) oversold: usize,
    /// Orders beyond one a person.
    pub(crate) duplicate: usize,
    /// Units left although somebody was turned away.
    pub(crate) undersold: usize,
    /// Accepted, and no order after a kill.
    pub(crate) lost: usize,
}

/// Judges a strategy.
pub(crate) async fn judge(kind: Kind, ground: &Ground, quick: bool) -> Result<Row> {
    let stock = kind.stock(quick);
    let (calm, calm_faults) = sell(kind, ground, stock, false).await.context("the calm run")?;
    let (_, rough_faults) = sell(kind, ground, stock, true).await.context("the rough run")?;
    let lost = lost_after_kill(kind, ground, stock)
        .await
        .context("the killed run")?;
    let worse = |fault: fn(&Faults) -> usize| fault(&calm_faults).max(fault(&rough_faults));
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let rate = |n: usize, time: std::time::Duration| n as f64 / time.as_secs_f64();
    Ok(Row {
        name: kind.name(),
        answered: rate(calm.attempts, calm.answered),
        accepted: rate(calm.accepted.len(), calm.answered),
        settled: rate(calm_faults.orders, calm.settled),
        p99: Quantiles::of(&calm.latency).p99,
        oversold: worse(|faults| faults.oversold),
        duplicate: worse(|faults| faults.duplicate),
        // The rough run has units to spare.
        undersold: calm_faults.undersold,
        lost,
    })
}

struct Faults {
    orders: usize,
    oversold: usize,
    duplicate: usize,
    undersold: usize,
}

async fn sell(kind: Kind, ground: &Ground, stock: i64, rough: bool) -> Result<(Told, Faults)> {
    // Whoever wakes up late is to find a unit still there, or selling out would hide that two hold one lock. So the
    // rough run has twice as many units as shoppers, and a few shoppers are enough.
    let (stock, shoppers) = if rough {
        (ROUGH * 2, ROUGH)
    } else {
        (stock, stock * 2)
    };
    let (_stores, venue) = ground.run(kind, stock, rough).await?;
    let users = venue.users(shoppers).await?;
    let strategy = Arc::from(open(kind, &venue).await?);
    let told = drive(strategy, users.into(), rough, |_| {}).await?;
    let faults = check(&venue).await?;
    Ok((told, faults))
}

async fn check(venue: &Venue) -> Result<Faults> {
    let owners = venue.owners().await?;
    let people: HashSet<i64> = owners.iter().copied().collect();
    let stock = usize::try_from(venue.stock)?;
    Ok(Faults {
        orders: owners.len(),
        oversold: owners.len().saturating_sub(stock),
        duplicate: owners.len() - people.len(),
        undersold: stock.saturating_sub(owners.len()),
    })
}
