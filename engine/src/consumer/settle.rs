//! Settling a batch: rows first, then units that go back, then the acknowledgement. Each step may be made again after a
//! crash without a second effect.

use std::{ops::AddAssign, sync::Arc};

use domain::{FailReason, OrderEvent, OrderState, UserId};
use tokio::time::Instant;

use crate::{
    EngineError, EngineSettings,
    failpoint::Sabotage,
    kv::{Dead, Entry, EntryId, Kv, News, Partition, Payload},
    ledger::{
        Ledger, LedgerError,
        settle::{self, Fate, Queued},
    },
    metrics::Metrics,
};

/// What one pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PassReport {
    /// Entries read.
    pub read: u64,
    /// Orders written by this pass.
    pub confirmed: u64,
    /// Orders that were written already.
    pub already: u64,
    /// Orders that failed.
    pub failed: u64,
    /// Units given back by this pass.
    pub given_back: u64,
    /// Entries moved to the dead stream.
    pub dead: u64,
    /// Entries taken over from other consumers.
    pub claimed: u64,
}

impl AddAssign for PassReport {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.confirmed += other.confirmed;
        self.already += other.already;
        self.failed += other.failed;
        self.given_back += other.given_back;
        self.dead += other.dead;
        self.claimed += other.claimed;
    }
}

/// Entries as they were delivered.
pub(super) type Delivered = Vec<(EntryId, Payload)>;

/// Where entries are settled. Holds nothing of its own, so that one batch may be written while another is acknowledged.
pub(crate) struct Desk {
    pub(crate) kv: Kv,
    pub(crate) ledger: Ledger,
    pub(crate) metrics: Metrics,
    pub(crate) settings: Arc<EngineSettings>,
    pub(crate) partition: Partition,
}

/// A batch whose rows are committed, and that nobody was told of yet.
pub(super) struct Written {
    began: Instant,
    ids: Vec<EntryId>,
    orders: Vec<(EntryId, Entry, Fate)>,
    dead: Vec<Dead>,
}

impl Desk {
    /// Settles entries and acknowledges them. On an error nothing is acknowledged: they stay pending.
    pub(super) async fn settle(&self, entries: &[(EntryId, Payload)]) -> Result<PassReport, EngineError> {
        let written = self.write(entries).await?;
        self.conclude(written).await
    }

    /// The first half: the rows.
    pub(super) async fn write(&self, entries: &[(EntryId, Payload)]) -> Result<Written, EngineError> {
        let began = Instant::now();
        let ids: Vec<EntryId> = entries.iter().map(|(id, _)| *id).collect();
        let mut dead = Vec::new();
        let mut good: Vec<(EntryId, Entry)> = Vec::with_capacity(entries.len());
        for (id, payload) in entries {
            match payload {
                Payload::Order(entry) => good.push((*id, *entry)),
                Payload::Bad(payload) => dead.push(Dead {
                    entry: *id,
                    reason: "unreadable",
                    order: None,
                    payload: payload.clone(),
                }),
                Payload::Gone => {}
            }
        }
        self.settings.fail_points.hit("C1").await;
        if self.settings.fail_points.breaks(Sabotage::AckBeforeCommit) {
            self.kv.finish(self.partition, &ids, &[], None).await?;
            self.settings.fail_points.hit("C4").await;
        }
        let queued: Vec<Queued> = good.iter().map(|(_, entry)| queued(entry)).collect();
        let fates = self.write_in_parts(&queued).await?;
        self.settings.fail_points.hit("C4").await;
        let orders = good
            .into_iter()
            .zip(fates)
            .map(|((id, entry), fate)| (id, entry, fate));
        Ok(Written {
            began,
            ids,
            orders: orders.collect(),
            dead,
        })
    }

    /// The second half: units that go back, the acknowledgement, the news.
    pub(super) async fn conclude(&self, written: Written) -> Result<PassReport, EngineError> {
        let Written {
            began,
            ids,
            orders,
            mut dead,
        } = written;
        let mut report = PassReport {
            read: ids.len() as u64,
            ..PassReport::default()
        };
        let mut events: Vec<(UserId, OrderEvent)> = Vec::with_capacity(orders.len());
        for (id, entry, fate) in orders {
            let (state, reason) = match fate {
                Fate::Confirmed => {
                    report.confirmed += 1;
                    (OrderState::Confirmed, None)
                }
                Fate::Settled(state) => {
                    report.already += 1;
                    (state, None)
                }
                Fate::Failed { reason, instead } => {
                    report.failed += 1;
                    self.settings.fail_points.hit("K").await;
                    let given = self
                        .kv
                        .give_back(entry.voucher, entry.user, entry.order, instead)
                        .await?;
                    report.given_back += u64::from(given);
                    (OrderState::Failed, Some(reason))
                }
                Fate::Unwritable => {
                    report.failed += 1;
                    let given = self
                        .kv
                        .give_back(entry.voucher, entry.user, entry.order, None)
                        .await?;
                    report.given_back += u64::from(given);
                    let payload = format!("{entry:?}");
                    dead.push(Dead {
                        entry: id,
                        reason: "unwritable",
                        order: Some(entry),
                        payload,
                    });
                    (OrderState::Failed, Some(FailReason::Rejected))
                }
            };
            tracing::debug!(voucher = %entry.voucher, order = %entry.order, state = state.word(), "settled");
            let event = OrderEvent {
                voucher_id: entry.voucher,
                order_id: entry.order,
                state,
                reason,
            };
            events.push((entry.user, event));
        }
        report.dead = dead.len() as u64;
        let news = (!events.is_empty()).then_some(News::Orders(events));
        self.kv.finish(self.partition, &ids, &dead, news.as_ref()).await?;
        self.settings.fail_points.hit("C5").await;
        self.count(&report, began);
        Ok(report)
    }

    /// Writes orders in one transaction. A batch that the database refuses is split, down to the one order to blame.
    async fn write_in_parts(&self, batch: &[Queued]) -> Result<Vec<Fate>, EngineError> {
        let mut fates = Vec::with_capacity(batch.len());
        // Ranges still to write, the next one last.
        let mut open = vec![batch];
        while let Some(part) = open.pop() {
            if part.is_empty() {
                continue;
            }
            match self.write_at_once(part).await {
                Ok(written) => fates.extend(written),
                Err(LedgerError::Refused(error)) if part.len() == 1 => {
                    tracing::error!(%error, order = %part[0].order, "the ledger refuses an order");
                    fates.push(self.reject(&part[0]).await?);
                }
                // One order to blame among many, or more than the database writes in time (K39): in halves.
                Err(error) if part.len() > 1 && error.is_for_halving() => {
                    let (left, right) = part.split_at(part.len() / 2);
                    open.push(right);
                    open.push(left);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(fates)
    }

    async fn write_at_once(&self, batch: &[Queued]) -> Result<Vec<Fate>, LedgerError> {
        let mut tx = self.ledger.begin_settling().await?;
        let fates = settle::settle(&mut tx, batch).await?;
        self.settings.fail_points.hit("C2").await;
        tx.commit().await?;
        Ok(fates)
    }

    async fn reject(&self, order: &Queued) -> Result<Fate, EngineError> {
        let mut tx = self.ledger.begin_settling().await?;
        let told = settle::reject(&mut tx, order).await?;
        tx.commit().await.map_err(LedgerError::from)?;
        Ok(if told {
            Fate::Failed {
                reason: FailReason::Rejected,
                instead: None,
            }
        } else {
            Fate::Unwritable
        })
    }

    fn count(&self, report: &PassReport, began: Instant) {
        let metrics = &self.metrics;
        metrics.settled("confirmed", report.confirmed);
        metrics.settled("already", report.already);
        metrics.settled("failed", report.failed);
        metrics.dead.inc_by(report.dead);
        #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
        metrics.settle_batch.observe(report.read as f64);
        metrics.settle_seconds.observe(began.elapsed().as_secs_f64());
    }
}

const fn queued(entry: &Entry) -> Queued {
    Queued {
        order: entry.order,
        user: entry.user,
        voucher: entry.voucher,
        epoch: entry.epoch,
    }
}
