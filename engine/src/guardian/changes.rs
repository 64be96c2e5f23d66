//! Finishing stock changes that a crash left half-way: the ledger tells how.

use std::time::Duration;

use domain::OrderId;

use super::Guardian;
use crate::{
    EngineError,
    kv::RestockStep,
    ledger::{LedgerError, sales, sales::SaleRow, stock},
};

/// A change that is younger is most likely under way.
const PATIENCE: Duration = Duration::from_secs(5);

impl Guardian {
    /// Commits in Redis what the ledger holds, and aborts what it does not. Before an abort the sale's version is raised
    /// in the ledger, so that a writer that is only slow finds another version and gives up.
    pub(super) async fn finish_changes(&self, sale: &SaleRow) -> Result<u64, EngineError> {
        let mut finished = 0;
        for note in self.kv.change_notes(sale.id).await? {
            let born = OrderId::new(note.change).map_or(0, OrderId::unix_seconds);
            if self.clock.now().seconds() - born < i64::try_from(PATIENCE.as_secs()).unwrap_or(i64::MAX) {
                continue;
            }
            let mut tx = self.ledger.begin_settling().await?;
            let Some(row) = sales::lock(&mut *tx, sale.id).await? else {
                continue;
            };
            let written = stock::exists(&mut *tx, note.change).await?;
            if !written {
                sales::raise_version(&mut *tx, sale.id).await?;
            }
            tx.commit().await.map_err(LedgerError::from)?;
            let step = if written {
                RestockStep::Commit
            } else {
                RestockStep::Abort
            };
            self.kv
                .restock(step, sale.id, row.epoch, note.change, note.delta)
                .await?;
            tracing::warn!(voucher = %sale.id, delta = note.delta, written, "an unfinished stock change was finished");
            finished += 1;
        }
        Ok(finished)
    }
}
