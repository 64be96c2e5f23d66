//! Read, decide, write: two readers of the same last unit both sell it.

use anyhow::Result;
use futures_util::future::BoxFuture;

use super::{Said, Strategy, Venue, row};

pub(super) struct Naive(Venue);

impl Naive {
    pub(super) fn new(venue: &Venue) -> Self {
        Self(venue.clone())
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let pool = &self.0.pool;
        let stock = row::stock(pool).await?;
        if stock < 1 {
            return Ok(Said::SoldOut);
        }
        if row::has_one(pool, user).await? {
            return Ok(Said::Duplicate);
        }
        self.0.stall().await;
        sqlx::query("UPDATE strategy_sale SET stock = $1")
            .bind(stock - 1)
            .execute(pool)
            .await?;
        row::insert(pool, user).await?;
        Ok(Said::Accepted)
    }
}

impl Strategy for Naive {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }
}
