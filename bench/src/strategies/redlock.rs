//! A lock that holds when two of three Redis agree, by the crate `rslock`. Its time-out still ends under a holder that
//! pauses: no number of Redis helps against that.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::BoxFuture;
use rslock::{LockError, LockManager};

use super::{Said, Strategy, Venue, row};

const LIFE: Duration = Duration::from_millis(300);

pub(super) struct Redlock {
    venue: Venue,
    locks: LockManager,
}

impl Redlock {
    pub(super) fn open(venue: &Venue) -> Result<Self> {
        let clients = venue
            .at
            .redis
            .iter()
            .take(3)
            .map(|url| redis::Client::open(url.as_str()));
        let mut locks = LockManager::from_clients(clients.collect::<Result<_, _>>()?);
        locks.set_retry(1, Duration::from_millis(1));
        Ok(Self {
            venue: venue.clone(),
            locks,
        })
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let key = format!("lock:order:{user}");
        let lock = match self.locks.lock(key.as_bytes(), LIFE).await {
            Ok(lock) => lock,
            Err(LockError::Unavailable | LockError::TtlExceeded) => return Ok(Said::Refused),
            Err(error) => return Err(error.into()),
        };
        let said = row::check_then_take(&self.venue, user).await;
        self.locks.unlock(&lock).await;
        said
    }
}

impl Strategy for Redlock {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }
}
