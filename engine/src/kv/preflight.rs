//! What must be true of a Redis before anything is sold on it.

use std::collections::HashMap;

use super::{Kv, KvError};

/// Redis' own settings, as far as the promise "accepted means kept" hangs on them.
#[derive(Debug, Clone)]
pub(crate) struct Preflight {
    /// `noeviction`, or keys vanish under memory pressure (R36).
    pub(crate) eviction: String,
    /// Whether the append-only file is on.
    pub(crate) append_only: bool,
    /// `always`, `everysec` or `no`.
    pub(crate) fsync: String,
}

impl Kv {
    /// Reads the settings. `None` where Redis does not tell (some hosted ones hide CONFIG).
    pub(crate) async fn preflight(&self) -> Result<Option<Preflight>, KvError> {
        let answer: Result<HashMap<String, String>, _> = redis::cmd("CONFIG")
            .arg("GET")
            .arg(&["maxmemory-policy", "appendonly", "appendfsync"])
            .query_async(&mut self.calm.clone())
            .await;
        let mut settings = match answer.map_err(KvError::from) {
            Ok(settings) => settings,
            Err(KvError::Trouble {
                trouble: super::Trouble::Refused,
                ..
            }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut take = |name: &str| settings.remove(name).unwrap_or_default();
        Ok(Some(Preflight {
            eviction: take("maxmemory-policy"),
            append_only: take("appendonly") == "yes",
            fsync: take("appendfsync"),
        }))
    }
}
