//! Sweeping up: claims that are neither in the stream nor in the ledger, failed orders whose unit never went back, and
//! sums that do not add up.

use std::time::Duration;

use domain::{OrderId, OrderState, UserId, VoucherId};

use super::{GuardReport, Guardian};
use crate::{
    EngineError,
    kv::{EntryId, SaleView},
    ledger::{orders, sales::SaleRow},
};

/// A claim that is younger may still be on its way.
const PATIENCE: Duration = Duration::from_secs(5);

impl Guardian {
    /// Looks only where claims have been in flight for as long as one may be on its way, and once in that time: to look is
    /// to read them all, and in a crowd some are always on their way.
    pub(super) async fn sweep(
        &mut self,
        sale: &SaleRow,
        view: &SaleView,
    ) -> Result<GuardReport, EngineError> {
        let id = sale.id;
        let mut report = GuardReport::default();
        let claims = self.kv.claim_count(id).await?;
        // All from the row: units = live orders + left, so the live orders need no counting.
        let in_flight = claims - (sale.initial - sale.stock);
        let now = self.clock.now();
        let due = if in_flight == 0 {
            self.in_flight.remove(&id);
            false
        } else {
            now >= *self.in_flight.entry(id).or_insert(now) + PATIENCE
        };
        let oldest = self.kv.oldest_entry(self.kv.keys().partition(id)).await?;
        if due {
            self.in_flight.insert(id, now);
            // One process sweeps a sale at a time: two would queue the same orders twice, for nothing.
            if let Ok(_lock) = self.locks.try_take(&format!("sweep:{id}"), 0).await? {
                report += self.sweep_claims(sale, oldest, PATIENCE).await?;
            }
        }
        // R42: alarmed only on two equal readings with nothing on its way, and never overwritten.
        let drift = sale.initial - view.stock - claims;
        let calm = oldest.is_none() && in_flight == 0 && drift != 0;
        let before = if calm {
            self.drift.insert(id, drift)
        } else {
            self.drift.remove(&id)
        };
        let sure = calm && before == Some(drift);
        if sure || drift == 0 {
            self.metrics.drift(id, drift);
        }
        if sure {
            report.drifting += 1;
            if self.metrics.trouble("drift") {
                tracing::error!(voucher = %id, drift, "units don't add up: published - left in Redis - claims");
            }
        }
        Ok(report)
    }

    /// Queues claims again that have neither entry nor row, and gives back the units of failed orders.
    pub(super) async fn sweep_claims(
        &self,
        sale: &SaleRow,
        oldest: Option<EntryId>,
        patience: Duration,
    ) -> Result<GuardReport, EngineError> {
        let mut report = GuardReport::default();
        let mut cursor = 0;
        loop {
            let (next, claims) = self.kv.scan_claims(sale.id, cursor).await?;
            let aged: Vec<(UserId, OrderId)> = claims
                .into_iter()
                .filter(|(_, order)| self.is_left(*order, oldest, patience))
                .collect();
            let rows = orders::states(&self.ledger.worker, &aged).await?;
            for ((user, order), row) in aged.into_iter().zip(rows) {
                match row {
                    None => {
                        report.requeued +=
                            u64::from(self.kv.requeue(sale.id, sale.epoch, user, order).await?);
                    }
                    Some((OrderState::Failed, live)) => {
                        report.given_back += u64::from(self.give_back(sale.id, user, order, live).await?);
                    }
                    _ => {}
                }
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        if report.requeued + report.given_back > 0 {
            let (requeued, given_back) = (report.requeued, report.given_back);
            tracing::warn!(voucher = %sale.id, requeued, given_back, "claims without an order were swept up");
        }
        Ok(report)
    }

    async fn give_back(
        &self,
        id: VoucherId,
        user: UserId,
        order: OrderId,
        live: Option<OrderId>,
    ) -> Result<bool, EngineError> {
        Ok(self.kv.give_back(id, user, order, live).await?)
    }

    /// Whether the order is old, and older than every entry that waits: its own entry is gone then. Queueing it again
    /// by mistake would do no harm.
    fn is_left(&self, order: OrderId, oldest: Option<EntryId>, patience: Duration) -> bool {
        let patience = i64::try_from(patience.as_secs()).unwrap_or(i64::MAX);
        let minted = order.unix_seconds();
        let aged = self.clock.now().seconds() - minted >= patience;
        let behind = oldest.is_none_or(|entry| i64::try_from(entry.millis / 1000).unwrap_or(0) > minted + 1);
        aged && behind
    }
}
