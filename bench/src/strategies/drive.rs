//! The crowd that all strategies meet: twice as many shoppers as units, each clicking three times at once, and again when
//! they are told that the lock is held.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use hdrhistogram::Histogram;

use super::{Said, Strategy};

/// Clicks a shopper.
pub(super) const CLICKS: usize = 3;
/// Shoppers at once.
const TASKS: usize = 256;
/// How often a shopper comes back to a held lock, and after how long.
const AGAIN: usize = 8;
const PAUSE: Duration = Duration::from_millis(60);

/// What the crowd was told, and how fast.
pub(super) struct Told {
    /// Who was told "accepted", once for each time.
    pub(super) accepted: Vec<i64>,
    /// Attempts, repeats not counted.
    pub(super) attempts: usize,
    /// Until the last answer.
    pub(super) answered: Duration,
    /// Until the last row.
    pub(super) settled: Duration,
    /// Microseconds.
    pub(super) latency: Histogram<u64>,
}

/// Lets the crowd in. `heard` is told of each accepted order as soon as the shopper is.
pub(super) async fn drive(
    strategy: Arc<dyn Strategy>,
    users: Arc<[i64]>,
    disturbed: bool,
    heard: fn(i64),
) -> Result<Told> {
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            tokio::spawn(one(
                strategy.clone(),
                users.clone(),
                next.clone(),
                disturbed,
                heard,
            ))
        })
        .collect();
    let mut accepted = Vec::new();
    let mut latency = crate::load::histogram();
    for task in tasks {
        let (mine, taken) = task.await??;
        accepted.extend(mine);
        latency.add(taken)?;
    }
    let answered = began.elapsed();
    strategy.settle().await?;
    Ok(Told {
        accepted,
        attempts: users.len() * CLICKS,
        answered,
        settled: began.elapsed(),
        latency,
    })
}

async fn one(
    strategy: Arc<dyn Strategy>,
    users: Arc<[i64]>,
    next: Arc<AtomicUsize>,
    disturbed: bool,
    heard: fn(i64),
) -> Result<(Vec<i64>, Histogram<u64>)> {
    let mut accepted = Vec::new();
    let mut latency = crate::load::histogram();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        // One person's clicks stand next to each other, so that they are under way at once.
        let Some(user) = users.get(number / CLICKS).copied() else {
            return Ok((accepted, latency));
        };
        if disturbed && number == users.len() * CLICKS / 4 {
            strategy.disturb().await?;
        }
        for _ in 0..=AGAIN {
            let began = Instant::now();
            let said = strategy.grab(user).await?;
            latency.saturating_record(u64::try_from(began.elapsed().as_micros())?.max(1));
            match said {
                Said::Accepted => {
                    heard(user);
                    accepted.push(user);
                }
                Said::Refused => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                Said::SoldOut | Said::Duplicate | Said::Lost => {}
            }
            break;
        }
    }
}
