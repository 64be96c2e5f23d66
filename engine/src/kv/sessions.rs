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
    /// Opens sessions, all in one round trip. `now`: Unix seconds.
    pub(crate) async fn open_sessions(
        &self,
        sessions: &[(TokenHash, UserId)],
        life: Duration,
        now: i64,
    ) -> Result<(), KvError> {
        let mut pipe = redis::pipe();
        for (token, user) in sessions {
            pipe.hset(keys::session(token), "userId", user.get()).ignore();
            renew(&mut pipe, token, *user, life, now);
        }
        Ok(pipe.exec_async(&mut self.calm.clone()).await?)
    }

    /// Whose session this is. Its life starts anew once half of it is over: a look-up is no write, which would wait for
    /// the disk, as long as it can be helped.
    pub(crate) async fn session(
        &self,
        token: &TokenHash,
        life: Duration,
        now: i64,
    ) -> Result<Option<UserId>, KvError> {
        let key = keys::session(token);
        let mut con = self.calm.clone();
        let (user, left): (Option<i64>, i64) = redis::pipe()
            .hget(&key, "userId")
            .ttl(&key)
            .query_async(&mut con)
            .await?;
        let user = user.and_then(|raw| UserId::new(raw).ok());
        if let Some(user) = user
            && left < seconds(life) / 2
        {
            let mut pipe = redis::pipe();
            renew(&mut pipe, token, user, life, now);
            pipe.exec_async(&mut con).await?;
        }
        Ok(user)
    }

    /// The tokens of all sessions of a user that may still be good.
    pub(crate) async fn sessions_of(&self, user: UserId) -> Result<Vec<TokenHash>, KvError> {
        let tokens: Vec<String> = self.calm.clone().zrange(keys::sessions_of(user), 0, -1).await?;
        Ok(tokens
            .iter()
            .filter_map(|token| TokenHash::parse(token))
            .collect())
    }

    /// Ends these sessions of a user.
    pub(crate) async fn close_sessions(&self, user: UserId, tokens: &[TokenHash]) -> Result<(), KvError> {
        let mut pipe = redis::pipe();
        for token in tokens {
            pipe.del(keys::session(token))
                .ignore()
                .zrem(keys::sessions_of(user), token.to_string())
                .ignore();
        }
        Ok(pipe.exec_async(&mut self.calm.clone()).await?)
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
        let key = keys::session(token);
        let mut con = self.calm.clone();
        let (user,): (Option<i64>,) = redis::pipe()
            .hget(&key, "userId")
            .del(&key)
            .ignore()
            .query_async(&mut con)
            .await?;
        if let Some(user) = user.and_then(|raw| UserId::new(raw).ok()) {
            let _: i64 = con.zrem(keys::sessions_of(user), token.to_string()).await?;
        }
        Ok(())
    }
}

/// Begins a session's life anew and notes it under its user, so that all of them can be ended at once. A session is
/// renewed when half its life is over, so its note, good for two lives, is there as long as it is.
fn renew(pipe: &mut redis::Pipeline, token: &TokenHash, user: UserId, life: Duration, now: i64) {
    let (index, life) = (keys::sessions_of(user), seconds(life));
    let two_lives = life.saturating_mul(2);
    pipe.expire(keys::session(token), life)
        .ignore()
        .zadd(&index, token.to_string(), now)
        .ignore()
        .zrembyscore(&index, "-inf", now.saturating_sub(two_lives))
        .ignore()
        .expire(&index, two_lives)
        .ignore();
}

fn seconds(life: Duration) -> i64 {
    i64::try_from(life.as_secs()).unwrap_or(i64::MAX)
}
