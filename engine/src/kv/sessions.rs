//! Sessions: the key is the token's SHA-256, so that whoever reads Redis holds no token.

use std::{fmt, time::Duration};

use domain::UserId;
use redis::AsyncCommands;
use sha2::{Digest, Sha256};

use super::{Kv, KvError, keys};

/// The SHA-256 of a session token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenHash([u8; 32]);

impl TokenHash {
    /// Hashes a token as it came with the request.
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Reads back what `Display` wrote.
    pub(crate) fn parse(hex: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if hex.len() != 64 || !hex.is_ascii() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Kv {
    /// Opens sessions, all in one round trip.
    pub(crate) async fn open_sessions(
        &self,
        sessions: &[(TokenHash, UserId)],
        life: Duration,
    ) -> Result<(), KvError> {
        let mut pipe = redis::pipe();
        for (token, user) in sessions {
            let key = keys::session(token);
            pipe.hset(&key, "userId", user.get())
                .ignore()
                .expire(&key, seconds(life))
                .ignore();
        }
        Ok(pipe.exec_async(&mut self.calm.clone()).await?)
    }

    /// Whose session this is; its life starts anew.
    pub(crate) async fn session(&self, token: &TokenHash, life: Duration) -> Result<Option<UserId>, KvError> {
        let key = keys::session(token);
        let (user,): (Option<i64>,) = redis::pipe()
            .hget(&key, "userId")
            .expire(&key, seconds(life))
            .ignore()
            .query_async(&mut self.calm.clone())
            .await?;
        Ok(user.and_then(|raw| UserId::new(raw).ok()))
    }

    /// Notes that the shop is a demo.
    pub(crate) async fn mark_demo(&self) -> Result<(), KvError> {
        Ok(self.calm.clone().set(keys::DEMO, 1).await?)
    }

    /// Whether the shop is a demo.
    pub(crate) async fn is_demo(&self) -> Result<bool, KvError> {
        Ok(self.calm.clone().exists(keys::DEMO).await?)
    }

    /// Ends a session.
    pub(crate) async fn close_session(&self, token: &TokenHash) -> Result<(), KvError> {
        Ok(self.calm.clone().del(keys::session(token)).await?)
    }
}

fn seconds(life: Duration) -> i64 {
    i64::try_from(life.as_secs()).unwrap_or(i64::MAX)
}
