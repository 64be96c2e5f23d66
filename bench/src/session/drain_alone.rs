//! The consumer alone: the stream is filled while nobody settles, then a worker starts with nothing else on the machine.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use domain::VoucherId;
use tokio_util::sync::CancellationToken;

use crate::{
    drain::{Watch, wait_drained},
    load::{Amount, Person, Plan, run},
    loader::say,
    scenario::{Shop, Size},
    stand::{Stand, our_target},
};

pub(super) async fn measure(
    stand: &Stand,
    people: Arc<[Person]>,
    unopened: VoucherId,
    size: Size,
    rounds: usize,
) -> Result<Vec<f64>> {
    let web = stand.serve("web", &[]).await?;
    let mut rates = Vec::new();
    for _ in 0..rounds {
        let sale = stand.sale(size.attempts).await?;
        let shop = Shop {
            stand,
            server: &web,
            people: people.clone(),
            unopened,
        };
        let all = Amount::Attempts(size.attempts);
        shop.warm(&people, all).await?;
        run(Plan::closed(our_target(web.address, sale)?, people.clone(), all)).await?;
        let enough = CancellationToken::new();
        let watch = Watch::start(stand, &enough).await?;
        let worker = stand.serve("worker", &[]).await?;
        wait_drained(stand).await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
        enough.cancel();
        let rate = slope(&watch.curve().await?).context("the backlog did not go away")?;
        say(&format!("the consumer alone: {rate:.0}/s"));
        rates.push(rate);
        worker.stop().await?;
    }
    web.stop().await?;
    Ok(rates)
}

/// Entries a second between the last look at the whole backlog and the first at none.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn slope(curve: &[(f64, u64)]) -> Option<f64> {
    let full = curve.iter().map(|(_, waiting)| *waiting).max()?;
    let begun = curve.iter().rev().find(|(_, waiting)| *waiting == full)?.0;
    let ended = curve.iter().find(|(at, waiting)| *at > begun && *waiting == 0)?.0;
    Some(full as f64 / (ended - begun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_begins_when_the_backlog_does_to_go() {
        let curve = [(0.0, 100), (1.0, 100), (1.5, 40), (2.0, 0), (3.0, 0)];
        assert!((slope(&curve).unwrap() - 100.0).abs() < 1e-9);
        assert!(slope(&[]).is_none());
    }
}
