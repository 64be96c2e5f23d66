//! What a Redis tells of itself, for those who run it.

use domain::Timestamp;

use super::{Kv, KvError};

/// A Redis, as it is now.
#[derive(Debug, Clone)]
pub(crate) struct RedisVitals {
    pub(crate) version: String,
    /// `master`, or a replica that takes no writes.
    pub(crate) role: String,
    /// Its clock: the one that sales are judged by.
    pub(crate) clock: Timestamp,
    pub(crate) used_memory: u64,
    /// 0: no limit.
    pub(crate) max_memory: u64,
}

impl Kv {
    pub(crate) async fn vitals(&self) -> Result<RedisVitals, KvError> {
        let info: redis::InfoDict = redis::cmd("INFO").query_async(&mut self.calm.clone()).await?;
        let text = |name: &str| info.get::<String>(name).unwrap_or_default();
        let number = |name: &str| info.get::<u64>(name).unwrap_or_default();
        // Asked for last, so that the answer is as young as can be.
        let (clock, _) = self.views(&[]).await?;
        Ok(RedisVitals {
            version: text("redis_version"),
            role: text("role"),
            clock,
            used_memory: number("used_memory"),
            max_memory: number("maxmemory"),
        })
    }
}
