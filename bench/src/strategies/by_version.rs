//! A version that must not have changed: never oversells, and turns away most of a crowd while units are left.

use anyhow::Result;
use futures_util::future::BoxFuture;

use super::{Said, Strategy, Venue, row};

pub(super) struct ByVersion(Venue);

impl ByVersion {
    pub(super) fn new(venue: &Venue) -> Self {
        Self(venue.clone())
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let pool = &self.0.pool;
        let (stock, version): (i64, i64) = sqlx::query_as("SELECT stock, version FROM strategy_sale")
            .fetch_one(pool)
            .await?;
        if stock < 1 {
            return Ok(Said::SoldOut);
        }
        if row::has_one(pool, user).await? {
            return Ok(Said::Duplicate);
        }
        self.0.stall().await;
        let mut tx = pool.begin().await?;
        let sql = "UPDATE strategy_sale SET stock = stock - 1, version = version + 1 WHERE version = $1";
        if sqlx::query(sql)
            .bind(version)
            .execute(&mut *tx)
            .await?
            .rows_affected()
            == 0
        {
            return Ok(Said::Lost);
        }
        row::insert(&mut *tx, user).await?;
        tx.commit().await?;
        Ok(Said::Accepted)
    }
}

impl Strategy for ByVersion {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }
}
