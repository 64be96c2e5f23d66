//! `lock_take.lua`, `lock_renew.lua`, `lock_release.lua`: the commands of a distributed lock.

use std::time::Duration;

use super::{Kv, KvError, keys};

/// The answer to an attempt to take a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockReply {
    /// Taken, with this fencing number.
    Taken(i64),
    /// Somebody holds it, for this long at the most unless they prolong it.
    Held(Duration),
}

impl Kv {
    /// Takes the lock `name` for `life` if it is free. The fencing number will be above `floor`.
    pub(crate) async fn take_lock(
        &self,
        name: &str,
        token: &str,
        life: Duration,
        floor: i64,
    ) -> Result<LockReply, KvError> {
        let (code, number): (i64, i64) = self
            .scripts
            .lock_take
            .key(keys::lock(name))
            .key(keys::lock_fence(name))
            .arg(token)
            .arg(millis(life))
            .arg(floor)
            .invoke_async(&mut self.calm.clone())
            .await?;
        match code {
            1 => Ok(LockReply::Taken(number)),
            0 => Ok(LockReply::Held(Duration::from_millis(
                u64::try_from(number).unwrap_or(0),
            ))),
            code => Err(KvError::Unexpected(format!("lock_take.lua returned {code}"))),
        }
    }

    /// Prolongs a lock. `false`: it is no longer the caller's.
    pub(crate) async fn renew_lock(&self, name: &str, token: &str, life: Duration) -> Result<bool, KvError> {
        let script = &self.scripts.lock_renew;
        let mut call = script.key(keys::lock(name));
        let code: i64 = call
            .arg(token)
            .arg(millis(life))
            .invoke_async(&mut self.calm.clone())
            .await?;
        Ok(code == 1)
    }

    /// Frees a lock. `false`: it was no longer the caller's, and whoever holds it keeps it.
    pub(crate) async fn release_lock(&self, name: &str, token: &str) -> Result<bool, KvError> {
        let script = &self.scripts.lock_release;
        let code: i64 = script
            .key(keys::lock(name))
            .arg(token)
            .invoke_async(&mut self.calm.clone())
            .await?;
        Ok(code == 1)
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
