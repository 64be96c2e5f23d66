//! Latency at constant rates: shares of what the closed loop reached.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::{load::Quantiles, loader::say, scenario::Shop};

const SHARES: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];
/// Percentiles of the plot.
const PERCENTILES: [f64; 9] = [10.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99];

/// Latencies at one rate.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CurvePoint {
    /// Share of the closed loop's rate.
    pub(crate) share: f64,
    /// Attempts a second.
    pub(crate) per_second: f64,
    /// Milliseconds, from the moment at which an attempt was due.
    pub(crate) latency: Quantiles,
    /// Percentile, milliseconds.
    pub(crate) curve: Vec<(f64, f64)>,
    /// What went wrong.
    pub(crate) troubles: String,
}

pub(super) async fn run(shop: &Shop<'_>, full: f64, quick: bool) -> Result<Vec<CurvePoint>> {
    let time = Duration::from_secs(if quick { 2 } else { 5 });
    let mut points = Vec::new();
    for share in SHARES {
        let per_second = full * share;
        let (reading, outcome) = shop.open_loop(per_second, time).await?;
        #[expect(clippy::cast_precision_loss, reason = "microseconds of at most two minutes")]
        let at = |percentile: f64| outcome.latency.value_at_percentile(percentile) as f64 / 1000.0;
        say(&format!(
            "open loop {per_second:.0}/s: p50 {:.2}, p99 {:.2}, p99.9 {:.2} ms {} {}",
            reading.latency.p50,
            reading.latency.p99,
            reading.latency.p999,
            reading.troubles,
            reading.broken.join(", ")
        ));
        points.push(CurvePoint {
            share,
            per_second,
            latency: reading.latency,
            curve: PERCENTILES
                .iter()
                .map(|percentile| (*percentile, at(*percentile)))
                .collect(),
            troubles: [reading.troubles, reading.broken.join(", ")].concat(),
        });
    }
    Ok(points)
}
