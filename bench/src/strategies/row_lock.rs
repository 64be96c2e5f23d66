//! `SELECT … FOR UPDATE` on the sale: right, and one at a time for everybody.

use anyhow::Result;
use futures_util::future::BoxFuture;

use super::{Said, Strategy, Venue, row};

pub(super) struct RowLock(Venue);

impl RowLock {
    pub(super) fn new(venue: &Venue) -> Self {
        Self(venue.clone())
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let mut tx = self.0.pool.begin().await?;
        let stock: i64 = sqlx::query_scalar("SELECT stock FROM strategy_sale FOR UPDATE")
            .fetch_one(&mut *tx)
            .await?;
        if stock < 1 {
            return Ok(Said::SoldOut);
        }
        if row::has_one(&mut *tx, user).await? {
            return Ok(Said::Duplicate);
        }
        self.0.stall().await;
        let said = row::take_guarded(&mut tx, user).await?;
        tx.commit().await?;
        Ok(said)
    }
}

impl Strategy for RowLock {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }
}
