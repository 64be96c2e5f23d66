//! Counting answers and latencies.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;
use serde::Serialize;

use super::Verdict;

/// The longest latency that is told apart, in microseconds.
const LONGEST: u64 = 120_000_000;

/// What happened in a run.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// Units granted.
    pub(crate) accepted: u64,
    /// Refused: nothing left.
    pub(crate) sold_out: u64,
    /// Refused: had one already.
    pub(crate) duplicate: u64,
    /// Other answers, by status.
    pub(crate) other: BTreeMap<u16, u64>,
    /// Exchanges that the server or the network broke off, by kind.
    pub(crate) failed: BTreeMap<&'static str, u64>,
    /// No answer in time.
    pub(crate) timed_out: u64,
    /// What the generator itself could not do (no port, no file descriptor): such a run measures nothing.
    pub(crate) own_failures: BTreeMap<&'static str, u64>,
    /// From the first request to the last answer.
    pub(crate) elapsed: Duration,
    /// Microseconds, of all answers.
    pub(crate) latency: Histogram<u64>,
    /// Microseconds, of granted units alone.
    pub(crate) accepted_latency: Histogram<u64>,
}

/// Latencies in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Quantiles {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
}

impl Outcome {
    pub(super) fn new() -> Self {
        Self {
            accepted: 0,
            sold_out: 0,
            duplicate: 0,
            other: BTreeMap::new(),
            failed: BTreeMap::new(),
            timed_out: 0,
            own_failures: BTreeMap::new(),
            elapsed: Duration::ZERO,
            latency: histogram(),
            accepted_latency: histogram(),
        }
    }

    pub(super) fn answer(&mut self, verdict: Verdict, status: u16, took: Duration) {
        let micros = u64::try_from(took.as_micros())
            .unwrap_or(LONGEST)
            .clamp(1, LONGEST);
        self.latency.saturating_record(micros);
        match verdict {
            Verdict::Accepted => {
                self.accepted += 1;
                self.accepted_latency.saturating_record(micros);
            }
            Verdict::SoldOut => self.sold_out += 1,
            Verdict::Duplicate => self.duplicate += 1,
            Verdict::Other => *self.other.entry(status).or_default() += 1,
        }
    }

    /// All answers.
    pub(crate) fn answered(&self) -> u64 {
        self.latency.len()
    }

    /// Answers a second.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(crate) fn rate(&self) -> f64 {
        self.answered() as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Granted units a second.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(crate) fn accept_rate(&self) -> f64 {
        self.accepted as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// What kept the run from being a measurement, in a line; empty when all is well.
    pub(crate) fn troubles(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(
            self.other
                .iter()
                .map(|(status, n)| format!("{n} × status {status}")),
        );
        parts.extend(self.failed.iter().map(|(kind, n)| format!("{n} × {kind}")));
        if self.timed_out > 0 {
            parts.push(format!("{} timed out", self.timed_out));
        }
        parts.extend(
            self.own_failures
                .iter()
                .map(|(kind, n)| format!("{n} × own: {kind}")),
        );
        parts.join(", ")
    }

    /// The usual quantiles of all answers.
    pub(crate) fn quantiles(&self) -> Quantiles {
        Quantiles::of(&self.latency)
    }
}

impl Quantiles {
    /// Of a histogram of microseconds.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "bounded by LONGEST")]
        let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1000.0;
        Self {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        }
    }
}

/// An empty histogram of microseconds, three digits.
pub(crate) fn histogram() -> Histogram<u64> {
    #[expect(
        clippy::expect_used,
        reason = "the bounds are constants that hdrhistogram accepts"
    )]
    Histogram::new_with_bounds(1, LONGEST, 3).expect("constant bounds")
}
