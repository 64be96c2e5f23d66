//! One-time login codes: hashed, short-lived, few tries.

use std::time::Duration;

use domain::Phone;

use super::{Kv, KvError, keys};

/// What became of a request for a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeIssue {
    /// The code is kept.
    Kept,
    /// One was sent moments ago and not used: another may be sent after this long.
    Wait(Duration),
}

impl Kv {
    /// Keeps the hash of a code for `life`, unless an unused one is younger than `pause`.
    pub(crate) async fn issue_code(
        &self,
        phone: &Phone,
        hash: &str,
        life: Duration,
        pause: Duration,
    ) -> Result<CodeIssue, KvError> {
        let wait: u64 = self
            .scripts
            .code_issue
            .key(keys::code(phone))
            .arg(hash)
            .arg(u64::try_from(life.as_millis()).unwrap_or(u64::MAX))
            .arg(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX))
            .invoke_async(&mut self.calm.clone())
            .await?;
        Ok(if wait == 0 {
            CodeIssue::Kept
        } else {
            CodeIssue::Wait(Duration::from_millis(wait))
        })
    }

    /// Whether `hash` is the phone's code. A right one is used up by this; so is any after `tries` wrong ones.
    pub(crate) async fn check_code(&self, phone: &Phone, hash: &str, tries: u32) -> Result<bool, KvError> {
        let code: i64 = self
            .scripts
            .code_check
            .key(keys::code(phone))
            .arg(hash)
            .arg(tries)
            .invoke_async(&mut self.calm.clone())
            .await?;
        Ok(code == 1)
    }
}
