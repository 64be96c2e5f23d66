//! What the engine counts, in Prometheus' terms. Counters live here, gauges are read when somebody asks.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{GrabOutcome, VoucherId};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use tokio::time::Instant;

/// A repeated trouble is logged this often at the most.
const SAY_EVERY: Duration = Duration::from_secs(1);

/// One label: the kind of something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Kind {
    kind: &'static str,
}

/// One label: which sale.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfSale {
    voucher: i64,
}

/// The engine's counters.
#[derive(Clone)]
pub(crate) struct Metrics {
    grabs: Family<Kind, Counter>,
    settled: Family<Kind, Counter>,
    trouble: Family<Kind, Counter>,
    drift: Family<OfSale, Gauge>,
    said: Arc<Mutex<HashMap<&'static str, Instant>>>,
    /// Entries taken over from other consumers.
    pub(crate) claimed: Counter,
    /// Entries moved to the dead stream.
    pub(crate) dead: Counter,
    /// Grabs in one script call.
    pub(crate) grab_batch: Histogram,
    /// Seconds from sending a script call to its answer.
    pub(crate) grab_seconds: Histogram,
    /// Entries in one transaction.
    pub(crate) settle_batch: Histogram,
    /// Seconds from the beginning of a settle to its acknowledgement.
    pub(crate) settle_seconds: Histogram,
}

impl Metrics {
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.000_25, 2.0, 16));
        let sizes = || Histogram::new(exponential_buckets(1.0, 2.0, 13));
        let metrics = Self {
            grabs: Family::default(),
            settled: Family::default(),
            trouble: Family::default(),
            drift: Family::default(),
            said: Arc::default(),
            claimed: Counter::default(),
            dead: Counter::default(),
            grab_batch: sizes(),
            grab_seconds: seconds(),
            settle_batch: sizes(),
            settle_seconds: seconds(),
        };
        let r = registry;
        r.register("seckill_grabs", "Grabs by outcome", metrics.grabs.clone());
        r.register(
            "seckill_settled",
            "Queued orders by what became of them",
            metrics.settled.clone(),
        );
        r.register(
            "seckill_trouble",
            "Troubles with a store, by kind",
            metrics.trouble.clone(),
        );
        r.register(
            "seckill_sale_drift_units",
            "Units of a guarded sale that are nowhere, by two equal readings at rest; absent where it adds up",
            metrics.drift.clone(),
        );
        r.register(
            "seckill_claimed",
            "Entries taken over from other consumers",
            metrics.claimed.clone(),
        );
        r.register(
            "seckill_dead",
            "Entries moved to the dead stream",
            metrics.dead.clone(),
        );
        r.register(
            "seckill_grab_batch_size",
            "Grabs in one script call",
            metrics.grab_batch.clone(),
        );
        r.register(
            "seckill_grab_script_seconds",
            "Time of one script call",
            metrics.grab_seconds.clone(),
        );
        r.register(
            "seckill_settle_batch_size",
            "Entries in one transaction",
            metrics.settle_batch.clone(),
        );
        r.register(
            "seckill_settle_seconds",
            "Time of one settle, to its acknowledgement",
            metrics.settle_seconds.clone(),
        );
        metrics
    }

    pub(crate) fn grab(&self, outcome: &GrabOutcome) {
        let kind = match outcome {
            GrabOutcome::Queued { .. } => "queued",
            GrabOutcome::AlreadyOrdered { .. } => "already_ordered",
            GrabOutcome::SoldOut => "sold_out",
            GrabOutcome::NotStarted => "not_started",
            GrabOutcome::Ended => "ended",
            GrabOutcome::Paused => "paused",
            GrabOutcome::NotReady => "not_ready",
            GrabOutcome::RateLimited { .. } => "rate_limited",
            GrabOutcome::Busy => "busy",
            GrabOutcome::UnknownVoucher => "unknown_voucher",
        };
        self.grabs.get_or_create(&Kind { kind }).inc();
    }

    pub(crate) fn settled(&self, kind: &'static str, n: u64) {
        self.settled.get_or_create(&Kind { kind }).inc_by(n);
    }

    /// What a sale's units are off by; 0 where they add up.
    pub(crate) fn drift(&self, voucher: VoucherId, units: i64) {
        let sale = OfSale {
            voucher: voucher.get(),
        };
        if units == 0 {
            self.drift.remove(&sale);
        } else {
            self.drift.get_or_create(&sale).set(units);
        }
    }

    /// Counts a trouble. `true`: say so in the log; the same kind is said once a second at the most.
    pub(crate) fn trouble(&self, kind: &'static str) -> bool {
        self.trouble.get_or_create(&Kind { kind }).inc();
        let now = Instant::now();
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let due = said
            .get(kind)
            .is_none_or(|last| now.duration_since(*last) >= SAY_EVERY);
        if due {
            said.insert(kind, now);
        }
        due
    }
}
