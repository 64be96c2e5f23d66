//! A re-entrant lock as Redisson has it: a hash of owner and depth, renewed by a watchdog while its holder lives.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Result;
use futures_util::future::BoxFuture;
use redis::{Script, aio::MultiplexedConnection};
use tokio::task::JoinHandle;

use super::{Said, Strategy, Venue, row};

const LIFE_MS: u64 = 300;
const LOCK: &str =
    "if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 1 end return 0";
const RENEW: &str = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
const UNLOCK: &str = "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then return 1 end redis.call('DEL', KEYS[1]) return 1";

/// Locks on one Redis.
#[derive(Clone)]
pub(super) struct Locks {
    pub(super) con: MultiplexedConnection,
    owners: Arc<AtomicU64>,
}

/// A held lock.
pub(super) struct Held {
    con: MultiplexedConnection,
    key: String,
    owner: String,
    watchdog: JoinHandle<()>,
}

impl Locks {
    pub(super) async fn open(url: &str) -> Result<Self> {
        let con = redis::Client::open(url)?
            .get_multiplexed_async_connection()
            .await?;
        Ok(Self {
            con,
            owners: Arc::default(),
        })
    }

    /// The user's lock, if nobody has it.
    pub(super) async fn lock(&self, user: i64) -> Result<Option<Held>> {
        let owner = format!(
            "{}-{}",
            std::process::id(),
            self.owners.fetch_add(1, Ordering::Relaxed)
        );
        let key = format!("lock:order:{user}");
        if call(&self.con, LOCK, &key, &owner).await? == 0 {
            return Ok(None);
        }
        let (con, watched, name) = (self.con.clone(), key.clone(), owner.clone());
        let watchdog = tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(LIFE_MS / 6)).await;
                if !matches!(call(&con, RENEW, &watched, &name).await, Ok(1)) {
                    return;
                }
            }
        });
        Ok(Some(Held {
            con: self.con.clone(),
            key,
            owner,
            watchdog,
        }))
    }
}

impl Held {
    /// The holder enters again, as nested calls do.
    pub(super) async fn enter_again(&self) -> Result<bool> {
        Ok(call(&self.con, LOCK, &self.key, &self.owner).await? == 1)
    }

    /// Leaves once.
    pub(super) async fn leave(&self) -> Result<()> {
        call(&self.con, UNLOCK, &self.key, &self.owner).await?;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.watchdog.abort();
    }
}

async fn call(con: &MultiplexedConnection, script: &str, key: &str, owner: &str) -> Result<i64> {
    let script = Script::new(script);
    let mut call = script.key(key);
    call.arg(owner).arg(LIFE_MS);
    Ok(call.invoke_async(&mut con.clone()).await?)
}

/// One attempt under the user's lock, taken twice.
pub(super) async fn attempt(locks: &Locks, venue: &Venue, user: i64) -> Result<Said> {
    let Some(held) = locks.lock(user).await? else {
        return Ok(Said::Refused);
    };
    let again = held.enter_again().await?;
    let said = row::check_then_take(venue, user).await;
    if again {
        held.leave().await?;
    }
    held.leave().await?;
    said
}

pub(super) struct Watchdog {
    venue: Venue,
    locks: Locks,
}

impl Watchdog {
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        Ok(Self {
            venue: venue.clone(),
            locks: Locks::open(&venue.at.redis[0]).await?,
        })
    }
}

impl Strategy for Watchdog {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(attempt(&self.locks, &self.venue, user))
    }
}
