//! The same lock on a primary that dies before its replica has heard of it: the replica takes over and knows of no lock,
//! while a holder is between check and write.

use anyhow::Result;
use futures_util::future::BoxFuture;
use tokio::sync::RwLock;

use super::{
    Said, Strategy, Venue,
    watchdog::{Locks, attempt},
};

pub(super) struct Failover {
    venue: Venue,
    /// Whom clients believe to be the primary.
    primary: RwLock<Locks>,
    replica: Locks,
}

impl Failover {
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        Ok(Self {
            venue: venue.clone(),
            primary: RwLock::new(Locks::open(&venue.at.redis[0]).await?),
            // Stands for a replica that lags: what is locked now has not reached it.
            replica: Locks::open(&venue.at.redis[1]).await?,
        })
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let primary = self.primary.read().await.clone();
        match attempt(&primary, &self.venue, user).await {
            // The lock's server has gone; whoever was inside has sold or not, and a client simply asks again.
            Err(error) if error.downcast_ref::<redis::RedisError>().is_some() => Ok(Said::Refused),
            other => other,
        }
    }

    async fn promote(&self) -> Result<()> {
        self.venue.somebody_stalls().await?;
        let mut dying = self.primary.read().await.con.clone();
        // There is no answer to this.
        let _ = redis::cmd("SHUTDOWN").arg("NOSAVE").exec_async(&mut dying).await;
        *self.primary.write().await = self.replica.clone();
        Ok(())
    }
}

impl Strategy for Failover {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }

    fn disturb(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.promote())
    }
}
