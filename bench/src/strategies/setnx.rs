//! `SET NX PX` without an owner, freed by `DEL`: a holder that pauses for longer than the time-out loses the lock without
//! noticing, and then frees somebody else's.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::BoxFuture;
use redis::aio::MultiplexedConnection;

use super::{Said, Strategy, Venue, row};

/// Generous for the section, short for a pause.
const LIFE: Duration = Duration::from_millis(300);

pub(super) struct SetNx {
    venue: Venue,
    con: MultiplexedConnection,
}

impl SetNx {
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        let con = redis::Client::open(venue.at.redis[0].as_str())?
            .get_multiplexed_async_connection()
            .await?;
        Ok(Self {
            venue: venue.clone(),
            con,
        })
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let mut con = self.con.clone();
        let key = format!("lock:order:{user}");
        let mut set = redis::cmd("SET");
        set.arg(&key)
            .arg(1)
            .arg("NX")
            .arg("PX")
            .arg(u64::try_from(LIFE.as_millis())?);
        let locked: Option<String> = set.query_async(&mut con).await?;
        if locked.is_none() {
            return Ok(Said::Refused);
        }
        let said = row::check_then_take(&self.venue, user).await;
        redis::cmd("DEL").arg(&key).exec_async(&mut con).await?;
        said
    }
}

impl Strategy for SetNx {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }
}
