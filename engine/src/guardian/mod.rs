//! The guardian: looks every moment whether the two stores still tell one story, and mends what crashed in between.
//!
//! One task a process; several may run, a lock and the ledger's fence keep them out of each other's way. Each pass
//! returns what it did.

mod changes;
mod rebuild;
mod sweep;

use std::{
    collections::{HashMap, HashSet},
    ops::AddAssign,
    sync::Arc,
    time::Duration,
};

use domain::{SaleState, Timestamp, VoucherId};
use tokio_util::sync::CancellationToken;

use crate::{
    Clock, EngineError, EngineSettings,
    catalogue::Catalogue,
    kv::{EntryId, Kv, News, SaleView},
    ledger::{Ledger, sales::SaleRow},
    locks::Locks,
    metrics::Metrics,
};

/// Between two passes.
const EVERY: Duration = Duration::from_millis(500);
/// A sale that is over is guarded for this long, so that its last orders are settled and told.
pub(crate) const AFTERCARE: Duration = Duration::from_hours(2);
/// A consumer that has been away for this long and holds nothing is removed.
const CONSUMER_GONE: Duration = Duration::from_hours(1);

/// What a pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GuardReport {
    /// Sales loaded again from the ledger.
    pub rebuilt: u64,
    /// Sales that are shut and wait for their last entries to settle.
    pub draining: u64,
    /// Sales whose state or window in Redis was brought to the ledger's.
    pub steered: u64,
    /// Unfinished stock changes that were finished.
    pub changes: u64,
    /// Claims without entry and order that were queued again.
    pub requeued: u64,
    /// Units of failed orders that were given back.
    pub given_back: u64,
    /// Consumers removed.
    pub consumers: u64,
    /// Sales whose units did not add up at two readings.
    pub drifting: u64,
}

impl AddAssign for GuardReport {
    fn add_assign(&mut self, other: Self) {
        self.rebuilt += other.rebuilt;
        self.draining += other.draining;
        self.steered += other.steered;
        self.changes += other.changes;
        self.requeued += other.requeued;
        self.given_back += other.given_back;
        self.consumers += other.consumers;
        self.drifting += other.drifting;
    }
}

/// A sale that was shut: under which epoch, and the last entry that was decided before.
#[derive(Debug, Clone, Copy)]
struct Shut {
    epoch: i64,
    last: EntryId,
    /// Claims that had lost their entries were queued again.
    swept: bool,
}

/// Guards the sales.
pub struct Guardian {
    kv: Kv,
    ledger: Ledger,
    catalogue: Arc<Catalogue>,
    locks: Locks,
    metrics: Metrics,
    clock: Arc<dyn Clock>,
    settings: Arc<EngineSettings>,
    stop: CancellationToken,
    /// Sales that were shut here.
    closing: HashMap<VoucherId, Shut>,
    /// Sales that differed from the ledger at the last pass: a second look tells a change under way from a lost one.
    differing: HashSet<VoucherId>,
    /// What did not add up at the last pass, by how much.
    drift: HashMap<VoucherId, i64>,
    /// Since when some of a sale's claims have been in flight, or were last looked at.
    in_flight: HashMap<VoucherId, Timestamp>,
}

impl Guardian {
    #[expect(clippy::too_many_arguments, reason = "made in one place")]
    pub(crate) fn new(
        kv: Kv,
        ledger: Ledger,
        catalogue: Arc<Catalogue>,
        locks: Locks,
        metrics: Metrics,
        clock: Arc<dyn Clock>,
        settings: Arc<EngineSettings>,
        stop: CancellationToken,
    ) -> Self {
        Self {
            kv,
            ledger,
            catalogue,
            locks,
            metrics,
            clock,
            settings,
            stop,
            closing: HashMap::new(),
            differing: HashSet::new(),
            drift: HashMap::new(),
            in_flight: HashMap::new(),
        }
    }

    /// Works until stopped.
    pub async fn run(mut self) {
        let stop = self.stop.clone();
        let mut ticks = tokio::time::interval(EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.pass().await
                && self.metrics.trouble(error.kind())
            {
                tracing::warn!(%error, "the guardian could not look after the sales");
            }
        }
    }

    /// One look at everything. A sale in trouble does not keep the others from being looked after.
    pub async fn pass(&mut self) -> Result<GuardReport, EngineError> {
        self.catalogue.renew().await?;
        let sales = self.catalogue.all();
        let ids: Vec<VoucherId> = sales.iter().map(|sale| sale.id).collect();
        let run = self.kv.run_id().await?;
        let (now, views) = self.kv.views(&ids).await?;
        let mut report = GuardReport::default();
        let mut first_error = None;
        for (sale, view) in sales.iter().zip(views) {
            if !guarded(sale, now) {
                self.in_flight.remove(&sale.id);
                self.drift.remove(&sale.id);
                self.metrics.drift(sale.id, 0);
                continue;
            }
            match self.look_after(sale, view, &run).await {
                Ok(done) => report += done,
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        if report.rebuilt + report.steered + report.changes > 0 {
            self.catalogue.renew().await?;
            self.kv.publish(&News::Sales).await?;
        }
        for partition in self.kv.keys().partitions() {
            let gone = u64::try_from(CONSUMER_GONE.as_millis()).unwrap_or(u64::MAX);
            // Without a group there are no consumers to remove; the consumer makes it.
            report.consumers += self
                .kv
                .drop_consumers(partition, &self.settings.consumer, gone)
                .await
                .unwrap_or(0);
        }
        first_error.map_or(Ok(report), Err)
    }

    async fn look_after(
        &mut self,
        sale: &SaleRow,
        view: Option<SaleView>,
        run: &str,
    ) -> Result<GuardReport, EngineError> {
        let id = sale.id;
        let Some(view) = view.filter(|view| sound(view, sale, run)) else {
            return self.rebuild(id, run).await;
        };
        self.closing.remove(&id);
        let mut report = GuardReport::default();
        if view.control == sale.control && view.window == sale.window {
            self.differing.remove(&id);
        } else if !self.differing.insert(id) {
            self.kv
                .steer(id, sale.epoch, sale.version, sale.control, sale.window)
                .await?;
            self.differing.remove(&id);
            report.steered += 1;
        }
        report.changes += self.finish_changes(sale).await?;
        report += self.sweep(sale, &view).await?;
        Ok(report)
    }
}

fn guarded(sale: &SaleRow, now: Timestamp) -> bool {
    sale.window.state(sale.control, now) != SaleState::Ended || now < sale.window.ends_at + AFTERCARE
}

/// Whether Redis holds the sale as the ledger knows it, loaded since Redis last started: a restart may have lost the
/// latest grabs without a trace (K24, K34).
fn sound(view: &SaleView, sale: &SaleRow, run: &str) -> bool {
    view.whole && view.epoch == sale.epoch && view.run == run
}
