//! The statements that several strategies share.

use anyhow::Result;
use sqlx::{PgConnection, PgExecutor};

use super::{Said, Venue};

/// Whether the user has an order.
pub(super) async fn has_one(db: impl PgExecutor<'_>, user: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM strategy_order WHERE user_id = $1)";
    Ok(sqlx::query_scalar(sql).bind(user).fetch_one(db).await?)
}

/// Units left.
pub(super) async fn stock(db: impl PgExecutor<'_>) -> Result<i64> {
    Ok(sqlx::query_scalar("SELECT stock FROM strategy_sale")
        .fetch_one(db)
        .await?)
}

/// Writes an order.
pub(super) async fn insert(db: impl PgExecutor<'_>, user: i64) -> Result<()> {
    sqlx::query("INSERT INTO strategy_order (user_id) VALUES ($1)")
        .bind(user)
        .execute(db)
        .await?;
    Ok(())
}

/// Takes a unit if there is one, and writes the order.
pub(super) async fn take_guarded(db: &mut PgConnection, user: i64) -> Result<Said> {
    let sql = "UPDATE strategy_sale SET stock = stock - 1 WHERE stock > 0";
    if sqlx::query(sql).execute(&mut *db).await?.rows_affected() == 0 {
        return Ok(Said::SoldOut);
    }
    insert(db, user).await?;
    Ok(Said::Accepted)
}

/// What the teaching project does under its locks: look whether the user has one, then take with a guard on the stock.
pub(super) async fn check_then_take(venue: &Venue, user: i64) -> Result<Said> {
    if has_one(&venue.pool, user).await? {
        return Ok(Said::Duplicate);
    }
    venue.stall().await;
    let mut tx = venue.pool.begin().await?;
    let said = take_guarded(&mut tx, user).await?;
    tx.commit().await?;
    Ok(said)
}
