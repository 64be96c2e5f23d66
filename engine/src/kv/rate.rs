//! The buckets of tokens that all processes share.

use std::{fmt::Display, time::Duration};

use super::{Kv, KvError, keys};

impl Kv {
    /// Pays for `cost` attempts, the last of which is the one that asks. `Some`: that one is refused, ask again after
    /// this long.
    pub(crate) async fn take_tokens(
        &self,
        kind: &str,
        whose: &impl Display,
        token_every: Duration,
        burst: u32,
        cost: u32,
    ) -> Result<Option<Duration>, KvError> {
        let wait: u64 = self
            .scripts
            .rate
            .key(keys::rate(kind, whose))
            .arg(u64::try_from(token_every.as_micros()).unwrap_or(u64::MAX))
            .arg(burst)
            .arg(cost)
            .invoke_async(&mut self.calm.clone())
            .await?;
        Ok((wait > 0).then(|| Duration::from_millis(wait)))
    }
}
