//! Distributed locks, where they save work: one process rebuilds a sale, the others leave it alone. A lock alone proves
//! nothing, so each carries a fencing number that the ledger checks.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::{
    EngineError,
    kv::{Kv, LockReply, News},
};

/// A holder that is gone frees its lock after this.
pub(crate) const LIFE: Duration = Duration::from_secs(4);

/// The locks of one process.
#[derive(Clone)]
pub(crate) struct Locks {
    shared: Arc<Shared>,
}

struct Shared {
    kv: Kv,
    life: Duration,
    /// Rung whenever some lock is freed, here or elsewhere.
    freed: Notify,
}

struct Held {
    shared: Arc<Shared>,
    name: String,
    token: String,
    fence: i64,
    lost: AtomicBool,
    /// Rung when the holder is gone: the watchdog ends at once (R45).
    gone: Arc<Notify>,
}

/// A lock that is held. Its holder enters again by cloning it: it is free when the last clone is dropped. The watchdog
/// prolongs it meanwhile.
#[derive(Clone)]
pub(crate) struct Lock {
    held: Arc<Held>,
}

impl Lock {
    /// Grows with every holder; the ledger refuses a smaller one than it has seen.
    pub(crate) fn fence(&self) -> i64 {
        self.held.fence
    }

    /// Whether the watchdog found that the lock is no longer ours.
    pub(crate) fn is_lost(&self) -> bool {
        self.held.lost.load(Ordering::Relaxed)
    }
}

impl Locks {
    pub(crate) fn new(kv: Kv, life: Duration) -> Self {
        Self {
            shared: Arc::new(Shared {
                kv,
                life,
                freed: Notify::new(),
            }),
        }
    }

    /// Takes the lock if it is free. The fencing number will be above `floor`.
    pub(crate) async fn try_take(
        &self,
        name: &str,
        floor: i64,
    ) -> Result<Result<Lock, Duration>, EngineError> {
        let token = format!("{:016x}", getrandom::u64()?);
        let reply = self
            .shared
            .kv
            .take_lock(name, &token, self.shared.life, floor)
            .await?;
        let fence = match reply {
            LockReply::Taken(fence) => fence,
            LockReply::Held(left) => return Ok(Err(left)),
        };
        let gone = Arc::new(Notify::new());
        let held = Arc::new(Held {
            shared: self.shared.clone(),
            name: name.to_owned(),
            token,
            fence,
            lost: AtomicBool::new(false),
            gone: gone.clone(),
        });
        tokio::spawn(watch(Arc::downgrade(&held), gone, self.shared.life / 3));
        Ok(Ok(Lock { held }))
    }

    /// Takes the lock, waiting for it until `deadline`. `None`: it was not to be had in time.
    pub(crate) async fn take(
        &self,
        name: &str,
        floor: i64,
        deadline: Instant,
    ) -> Result<Option<Lock>, EngineError> {
        loop {
            // Listened for before the attempt, so that a release in between is not missed.
            let freed = self.shared.freed.notified();
            let left = match self.try_take(name, floor).await? {
                Ok(lock) => return Ok(Some(lock)),
                Err(left) => left,
            };
            let now = Instant::now();
            if now >= deadline {
                return Ok(None);
            }
            let wait = left.max(Duration::from_millis(10)).min(deadline - now);
            let _ = tokio::time::timeout(wait, freed).await;
        }
    }

    /// Wakes those who wait: some lock was freed.
    pub(crate) fn wake(&self) {
        self.shared.freed.notify_waiters();
    }
}

/// Prolongs a lock until its holder is gone or it is lost.
async fn watch(held: Weak<Held>, gone: Arc<Notify>, every: Duration) {
    loop {
        if tokio::time::timeout(every, gone.notified()).await.is_ok() {
            return;
        }
        let Some(lock) = held.upgrade() else { return };
        match lock
            .shared
            .kv
            .renew_lock(&lock.name, &lock.token, lock.shared.life)
            .await
        {
            Ok(true) => {}
            Ok(false) => {
                lock.lost.store(true, Ordering::Relaxed);
                tracing::warn!(lock = %lock.name, "a lock was lost while its holder worked; the fence guards the ledger");
                return;
            }
            // Perhaps the next time. Should the lock run out meanwhile, the fence guards the ledger.
            Err(error) => tracing::warn!(%error, lock = %lock.name, "a lock could not be prolonged"),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gone.notify_one();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (shared, name, token) = (
            self.shared.clone(),
            std::mem::take(&mut self.name),
            std::mem::take(&mut self.token),
        );
        runtime.spawn(async move {
            match shared.kv.release_lock(&name, &token).await {
                Ok(true) => {
                    shared.freed.notify_waiters();
                    // Elsewhere somebody may wait; without this they try again when its time is up.
                    let _ = shared.kv.publish(&News::Freed).await;
                }
                Ok(false) => tracing::warn!(lock = %name, "a lock had run out before it was freed; nothing was taken from its next holder"),
                Err(error) => tracing::warn!(%error, lock = %name, "a lock could not be freed; it runs out by itself"),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FailPoints, kv::KvSettings, testing::TestRedis};

    async fn locks(redis: &TestRedis, life_ms: u64) -> Locks {
        let settings = KvSettings {
            url: redis.url(),
            partitions: 1,
            response_timeout: Duration::from_secs(2),
            fail_points: FailPoints::default(),
        };
        Locks::new(
            Kv::connect(&settings).await.unwrap(),
            Duration::from_millis(life_ms),
        )
    }

    async fn free(redis: &TestRedis, name: &str) {
        let mut con = redis.connect().await;
        while redis::cmd("EXISTS")
            .arg(format!("lock:{{{name}}}"))
            .query_async::<i64>(&mut con)
            .await
            .unwrap()
            == 1
        {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn r43_only_the_holder_frees_a_lock_and_the_fence_grows_with_every_holder() {
        let redis = TestRedis::start().await;
        let (one, two) = (locks(&redis, 10_000).await, locks(&redis, 10_000).await);
        let held = one.try_take("a", 0).await.unwrap().unwrap();
        assert!(two.try_take("a", 0).await.unwrap().is_err());
        // The lock runs out and another takes it; the first holder's release must not touch it.
        redis::cmd("DEL")
            .arg("lock:{a}")
            .exec_async(&mut redis.connect().await)
            .await
            .unwrap();
        let next = two.try_take("a", 0).await.unwrap().unwrap();
        assert!(next.fence() > held.fence());
        assert!(!one.shared.kv.release_lock("a", &held.held.token).await.unwrap());
        assert!(
            one.try_take("a", 0).await.unwrap().is_err(),
            "still the second one's"
        );
        drop(next);
        free(&redis, "a").await;
        let above = one.try_take("a", 41).await.unwrap().unwrap();
        assert_eq!(above.fence(), 42, "the ledger had seen 41");
    }

    #[tokio::test]
    async fn a_holder_enters_again_and_the_lock_is_free_when_all_have_left() {
        let redis = TestRedis::start().await;
        let locks = locks(&redis, 10_000).await;
        let outer = locks.try_take("a", 0).await.unwrap().unwrap();
        let inner = outer.clone();
        drop(outer);
        assert!(locks.try_take("a", 0).await.unwrap().is_err());
        drop(inner);
        free(&redis, "a").await;
    }

    #[tokio::test]
    async fn a_waiter_wakes_when_the_lock_is_freed_and_gives_up_at_its_deadline() {
        let redis = TestRedis::start().await;
        let locks = locks(&redis, 60_000).await;
        let held = locks.try_take("a", 0).await.unwrap().unwrap();
        let soon = Instant::now() + Duration::from_millis(30);
        assert!(locks.take("a", 0, soon).await.unwrap().is_none());
        let waiter = {
            let locks = locks.clone();
            tokio::spawn(async move {
                locks
                    .take("a", 0, Instant::now() + Duration::from_secs(30))
                    .await
                    .unwrap()
                    .is_some()
            })
        };
        tokio::task::yield_now().await;
        drop(held);
        assert!(
            waiter.await.unwrap(),
            "long before the minute of its life is over"
        );
    }

    #[tokio::test]
    async fn r45_the_watchdog_keeps_a_lock_alive_and_ends_with_its_holder() {
        let redis = TestRedis::start().await;
        let locks = locks(&redis, 90).await;
        let mut con = redis.connect().await;
        let held = locks.try_take("a", 0).await.unwrap().unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(300) {
            let there: i64 = redis::cmd("EXISTS")
                .arg("lock:{a}")
                .query_async(&mut con)
                .await
                .unwrap();
            assert_eq!(there, 1, "prolonged past its life");
        }
        assert!(!held.is_lost());
        for _ in 0..100 {
            drop(locks.try_take("b", 0).await.unwrap().unwrap());
            free(&redis, "b").await;
        }
        drop(held);
        free(&redis, "a").await;
    }
}
