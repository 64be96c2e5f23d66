//! The day's order-id counter.

use domain::Timestamp;
use redis::AsyncCommands;

use super::{Kv, KvError, keys};

/// A counter outlives its day by this, so that a slow clock still finds it.
const KEEP_SECONDS: i64 = 2 * 24 * 3600;

impl Kv {
    /// Leases `n` numbers of the day of `at`: the answer is the last of them.
    pub(crate) async fn lease_order_numbers(&self, at: Timestamp, n: u32) -> Result<i64, KvError> {
        let key = keys::order_counter(at);
        let (last,): (i64,) = redis::pipe()
            .incr(&key, n)
            .expire(&key, KEEP_SECONDS)
            .ignore()
            .query_async(&mut self.hot.clone())
            .await?;
        Ok(last)
    }

    /// Raises the counter of the day of `at` to at least `floor`: used after Redis lost it.
    pub(crate) async fn raise_order_numbers(&self, at: Timestamp, floor: u32) -> Result<(), KvError> {
        let key = keys::order_counter(at);
        let mut con = self.calm.clone();
        let now: Option<i64> = con.get(&key).await?;
        let short = i64::from(floor) - now.unwrap_or(0);
        if short > 0 {
            con.incr::<_, _, ()>(&key, short).await?;
        }
        Ok(())
    }
}

/// A random number for names that must not meet.
pub(super) fn nonce() -> Result<u64, KvError> {
    getrandom::u64().map_err(|error| KvError::Unexpected(format!("no randomness: {error}")))
}
