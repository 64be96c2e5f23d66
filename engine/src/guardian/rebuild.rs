//! Loading a sale again after Redis lost it, or came back with an old copy: shut, let the last entries settle, raise the
//! epoch in the ledger, load.

use std::time::Duration;

use domain::{OrderId, VoucherId};

use super::{GuardReport, Guardian, Shut, sound};
use crate::{
    EngineError,
    kv::{CloseReply, EntryId, SaleCopy},
    ledger::{LedgerError, orders, sales, sales::SaleRow},
};

impl Guardian {
    /// Makes one step of a rebuild. While entries of before the shutting wait, there is nothing to do but to come again.
    pub(super) async fn rebuild(&mut self, id: VoucherId, run: &str) -> Result<GuardReport, EngineError> {
        let nothing = GuardReport::default();
        let fail_points = &self.settings.fail_points;
        let Some(seen) = sales::by_id(&self.ledger.worker, id).await? else {
            return Ok(nothing);
        };
        let Ok(lock) = self.locks.try_take(&format!("rebuild:{id}"), seen.fence).await? else {
            return Ok(nothing);
        };
        // Under the lock, look again: it may have been done meanwhile.
        let Some(row) = sales::by_id(&self.ledger.worker, id).await? else {
            return Ok(nothing);
        };
        let (_, views) = self.kv.views(&[id]).await?;
        let view = views.into_iter().next().flatten();
        if view.as_ref().is_some_and(|view| sound(view, &row, run)) {
            return Ok(nothing);
        }
        // A copy that is ahead of the ledger, as after the ledger was set back, is shut as well.
        let newest = view.map_or(row.epoch, |view| view.epoch.max(row.epoch));
        let CloseReply::Closed(last) = self.kv.close(id, newest).await? else {
            return Ok(nothing);
        };
        fail_points.hit("B").await;
        let held = self.closing.get(&id).filter(|shut| shut.epoch == newest);
        let mut shut = held.copied().unwrap_or(Shut {
            epoch: newest,
            last,
            swept: false,
        });
        self.closing.insert(id, shut);
        if !self.has_settled(id, shut.last).await? {
            return Ok(GuardReport {
                draining: 1,
                ..nothing
            });
        }
        if !shut.swept {
            shut.swept = true;
            shut.last = self
                .queue_what_is_left(&SaleRow { epoch: newest, ..row }, shut.last)
                .await?;
            self.closing.insert(id, shut);
            if !self.has_settled(id, shut.last).await? {
                return Ok(GuardReport {
                    draining: 1,
                    ..nothing
                });
            }
        }
        let mut tx = self.ledger.begin_settling().await?;
        // The fence: a holder that was too slow, and lost its lock, is refused here; so is one whose sale was rebuilt
        // meanwhile and sells again.
        if !sales::raise_epoch(&mut *tx, id, newest, lock.fence()).await? {
            return Ok(nothing);
        }
        let Some(row) = sales::lock(&mut *tx, id).await? else {
            return Ok(nothing);
        };
        let claims = orders::claims(&mut *tx, id).await?;
        let newest_order = orders::newest(&mut *tx).await?;
        tx.commit().await.map_err(LedgerError::from)?;
        fail_points.hit("B").await;
        self.raise_order_numbers(newest_order).await?;
        let copy = SaleCopy {
            voucher: id,
            epoch: row.epoch,
            version: row.version,
            window: row.window,
            control: row.control,
            initial: row.initial,
            stock: row.stock,
            claims,
        };
        if lock.is_lost() {
            return Ok(nothing);
        }
        let loaded = self.kv.load(&copy).await?;
        self.closing.remove(&id);
        if loaded {
            tracing::warn!(voucher = %id, epoch = row.epoch, stock = row.stock, orders = copy.claims.len(),
                "a sale was loaded again from the ledger");
        }
        Ok(GuardReport {
            rebuilt: u64::from(loaded),
            ..nothing
        })
    }

    /// Whether every entry up to `last` has left the stream.
    async fn has_settled(&self, id: VoucherId, last: EntryId) -> Result<bool, EngineError> {
        let oldest = self.kv.oldest_entry(self.kv.keys().partition(id)).await?;
        Ok(oldest.is_none_or(|oldest| oldest > last))
    }

    /// The sale is shut and its entries have settled: a claim without a row has lost its entry. It is queued again under
    /// the epoch that was shut, or the rebuild would forget an accepted order (K27). Returns the last entry to wait for.
    async fn queue_what_is_left(&self, shut: &SaleRow, last: EntryId) -> Result<EntryId, EngineError> {
        if self.sweep_claims(shut, None, Duration::ZERO).await?.requeued == 0 {
            return Ok(last);
        }
        match self.kv.close(shut.id, shut.epoch).await? {
            CloseReply::Closed(last) => Ok(last),
            CloseReply::Newer => Err(EngineError::unready("the sale was rebuilt meanwhile")),
        }
    }

    /// Redis may have lost the day's counter: it goes on above what the ledger has seen, by more than a lease.
    async fn raise_order_numbers(&self, newest: Option<OrderId>) -> Result<(), EngineError> {
        let now = self.clock.now();
        let today =
            |id: &OrderId| domain::Timestamp::from_millis(id.unix_seconds() * 1000).day() == now.day();
        if let Some(id) = newest.filter(today) {
            let floor = id.counter().saturating_add(self.settings.id_lease);
            self.kv.raise_order_numbers(now, floor).await?;
        }
        Ok(())
    }
}
