//! What became of sales' units, by the ledger alone.

use std::collections::HashMap;

use domain::VoucherId;
use sqlx::PgExecutor;

use super::LedgerError;

/// One sale's units at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) epoch: i64,
    pub(crate) published: i64,
    /// Sum of the stock changes since.
    pub(crate) changed: i64,
    /// Units without a live order.
    pub(crate) stock: i64,
    /// Live orders, counted.
    pub(crate) live: i64,
    /// Failed orders, counted.
    pub(crate) failed: i64,
}

/// The sums of these sales, all of one moment.
pub(crate) async fn of(
    db: impl PgExecutor<'_>,
    ids: &[VoucherId],
) -> Result<HashMap<VoucherId, Row>, LedgerError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let rows = sqlx::query!(
        // Two counts, since each has an index of its own.
        r#"SELECT s.voucher_id, s.epoch, s.initial, s.changed, s.stock,
                  (SELECT count(*) FROM voucher_order o
                   WHERE o.voucher_id = s.voucher_id AND o.state IN ('confirmed', 'paid', 'used')) AS "live!",
                  (SELECT count(*) FROM voucher_order o
                   WHERE o.voucher_id = s.voucher_id AND o.state = 'failed') AS "failed!"
           FROM seckill_voucher s WHERE s.voucher_id = ANY ($1)"#,
        &ids
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            let sum = Row {
                epoch: row.epoch,
                published: row.initial.into(),
                changed: row.changed.into(),
                stock: row.stock.into(),
                live: row.live,
                failed: row.failed,
            };
            Ok((VoucherId::new(row.voucher_id)?, sum))
        })
        .collect()
}
