//! Changes of stock by operators.

use domain::{StockDelta, UserId};
use sqlx::{PgConnection, PgExecutor};

use super::{LedgerError, sales::SaleRow};

/// Writes a change and moves the units, if the sale is as the caller saw it. `false`: somebody changed it meanwhile, or
/// fewer units are left than are to be taken; nothing changed.
pub(crate) async fn change(
    db: &mut PgConnection,
    id: i64,
    seen: &SaleRow,
    change: &StockDelta,
    actor: UserId,
) -> Result<bool, LedgerError> {
    let moved = sqlx::query!(
        "UPDATE seckill_voucher SET stock = stock + $2, changed = changed + $2, version = version + 1
         WHERE voucher_id = $1 AND epoch = $3 AND version = $4 AND stock + $2 >= 0",
        seen.id.get(),
        change.delta(),
        seen.epoch,
        seen.version
    )
    .execute(&mut *db)
    .await?;
    if moved.rows_affected() != 1 {
        return Ok(false);
    }
    sqlx::query!(
        "INSERT INTO stock_change (id, voucher_id, delta, reason, actor) VALUES ($1, $2, $3, $4, $5)",
        id,
        seen.id.get(),
        change.delta(),
        change.reason(),
        actor.get()
    )
    .execute(db)
    .await?;
    Ok(true)
}

/// Whether the ledger holds this change.
pub(crate) async fn exists(db: impl PgExecutor<'_>, id: i64) -> Result<bool, LedgerError> {
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT 1 FROM stock_change WHERE id = $1) AS "there!""#,
        id
    )
    .fetch_one(db)
    .await?)
}
