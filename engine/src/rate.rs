//! How often one person may call. A cheap stage in this process lets the usual case pass without a trip to Redis; only
//! a person who runs hot here is asked about there, in a bucket that all processes share.

use std::{
    collections::HashMap,
    fmt::Display,
    hash::{BuildHasher, Hash, RandomState},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use domain::{Phone, UserId};
use tokio::time::Instant;

use crate::{kv::Kv, metrics::Metrics};

/// A person shares a lock with about this fraction of the others.
const SHARDS: usize = 64;
/// Below this many people in a shard nobody is swept out.
const SWEEP_FROM: usize = 1024;

/// A bucket of tokens. No tokens a second: off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Tokens that come back in a second.
    pub per_second: f64,
    /// Tokens in a full bucket.
    pub burst: u32,
}

/// How often one person may call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Grabs of one user.
    pub grabs: Rate,
    /// Codes sent to one phone.
    pub codes: Rate,
    /// Logins tried with one phone.
    pub logins: Rate,
}

impl Rate {
    /// No limit.
    pub const OFF: Self = Self {
        per_second: 0.0,
        burst: 0,
    };

    /// The time until a token comes back; `None` where nothing is limited.
    fn token_every(self) -> Option<Duration> {
        let limits = self.per_second > 0.0 && self.burst > 0;
        limits
            .then(|| Duration::try_from_secs_f64(1.0 / self.per_second).ok())
            .flatten()
    }
}

impl Rates {
    /// No limits.
    pub const OFF: Self = Self {
        grabs: Rate::OFF,
        codes: Rate::OFF,
        logins: Rate::OFF,
    };
}

/// The limits on people.
pub(crate) struct Limits {
    kv: Kv,
    metrics: Metrics,
    grabs: Option<Stage<UserId>>,
    codes: Option<Stage<Phone>>,
    logins: Option<Stage<Phone>>,
}

impl Limits {
    pub(crate) fn new(kv: Kv, metrics: Metrics, rates: &Rates) -> Self {
        Self {
            kv,
            metrics,
            grabs: Stage::new("grab", rates.grabs),
            codes: Stage::new("code", rates.codes),
            logins: Stage::new("login", rates.logins),
        }
    }

    /// A grab. `Some`: refused, a token is there after this long.
    pub(crate) async fn grab(&self, user: UserId) -> Option<Duration> {
        self.ask(self.grabs.as_ref()?, &user).await
    }

    /// A code for a phone.
    pub(crate) async fn code(&self, phone: &Phone) -> Option<Duration> {
        self.ask(self.codes.as_ref()?, phone).await
    }

    /// A login.
    pub(crate) async fn login(&self, phone: &Phone) -> Option<Duration> {
        self.ask(self.logins.as_ref()?, phone).await
    }

    async fn ask<K: Person>(&self, stage: &Stage<K>, whose: &K) -> Option<Duration> {
        let cost = match stage.attempt(whose, Instant::now()) {
            Local::Passes => return None,
            Local::Refused(wait) => return Some(wait),
            Local::Hot { cost } => cost,
        };
        let asked = self
            .kv
            .take_tokens(stage.kind, &whose.key(), stage.every, stage.burst, cost)
            .await;
        let wait = asked.unwrap_or_else(|error| {
            // A limit must not close the shop. What the call needs of Redis will fail by itself.
            if self.metrics.trouble("rate_limit") {
                tracing::warn!(%error, "a rate could not be checked");
            }
            None
        });
        stage.answered(whose, wait, Instant::now());
        wait
    }
}

/// Who may be limited, and the name of the shared bucket.
trait Person: Clone + Eq + Hash {
    fn key(&self) -> impl Display;
}

impl Person for UserId {
    fn key(&self) -> impl Display {
        self.get()
    }
}

impl Person for Phone {
    fn key(&self) -> impl Display {
        self.as_str()
    }
}

/// What this process thinks of an attempt.
#[derive(Debug, PartialEq, Eq)]
enum Local {
    /// Far from any limit.
    Passes,
    /// Redis decides; it is to be told of this many attempts.
    Hot { cost: u32 },
    /// Redis has said so already.
    Refused(Duration),
}

/// One person's attempts in this process.
struct Seen {
    /// When all tokens of the free part are back.
    full: Instant,
    /// Attempts that passed without Redis knowing.
    unpaid: u32,
    /// Refused until then.
    refused: Option<Instant>,
}

/// The stage in this process: half of the bucket is free, what goes beyond is asked of Redis. A person whom Redis has
/// refused is refused here until a token is there: a script that calls without end makes no hot key (R66).
struct Stage<K> {
    kind: &'static str,
    every: Duration,
    burst: u32,
    free: Duration,
    chance: RandomState,
    shards: Vec<Mutex<Shard<K>>>,
}

struct Shard<K> {
    seen: HashMap<K, Seen>,
    sweep_at: usize,
}

impl<K: Person> Stage<K> {
    fn new(kind: &'static str, rate: Rate) -> Option<Self> {
        let every = rate.token_every()?;
        let shard = || {
            Mutex::new(Shard {
                seen: HashMap::new(),
                sweep_at: SWEEP_FROM,
            })
        };
        Some(Self {
            kind,
            every,
            burst: rate.burst,
            free: every * rate.burst.div_ceil(2),
            chance: RandomState::new(),
            shards: (0..SHARDS).map(|_| shard()).collect(),
        })
    }

    fn shard(&self, whose: &K) -> &Mutex<Shard<K>> {
        let place = usize::try_from(self.chance.hash_one(whose) % SHARDS as u64).unwrap_or(0);
        &self.shards[place]
    }

    fn attempt(&self, whose: &K, now: Instant) -> Local {
        let mut shard = self.shard(whose).lock().unwrap_or_else(PoisonError::into_inner);
        if shard.seen.len() >= shard.sweep_at {
            // Whoever has all tokens back need not be remembered.
            shard.seen.retain(|_, seen| seen.full > now);
            shard.sweep_at = (shard.seen.len() * 2).max(SWEEP_FROM);
        }
        let seen = shard.seen.entry(whose.clone()).or_insert(Seen {
            full: now,
            unpaid: 0,
            refused: None,
        });
        if let Some(until) = seen.refused {
            if until > now {
                return Local::Refused(until - now);
            }
            seen.refused = None;
        }
        if seen.full <= now {
            seen.full = now;
            seen.unpaid = 0;
        }
        if seen.full + self.every <= now + self.free {
            seen.full += self.every;
            seen.unpaid += 1;
            return Local::Passes;
        }
        let cost = 1 + seen.unpaid;
        seen.unpaid = 0;
        Local::Hot { cost }
    }

    fn answered(&self, whose: &K, wait: Option<Duration>, now: Instant) {
        let mut shard = self.shard(whose).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = shard.seen.get_mut(whose) {
            match wait {
                Some(wait) => seen.refused = Some(now + wait),
                None => seen.full = (seen.full.max(now) + self.every).min(now + self.free),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> Stage<UserId> {
        let rate = Rate {
            per_second: 20.0,
            burst: 100,
        };
        Stage::new("grab", rate).unwrap()
    }

    #[test]
    fn r01_half_a_bucket_passes_without_redis_and_the_rest_is_told_in_one_go() {
        let (stage, user, now) = (stage(), UserId::new(7).unwrap(), Instant::now());
        for _ in 0..50 {
            assert_eq!(stage.attempt(&user, now), Local::Passes);
        }
        assert_eq!(stage.attempt(&user, now), Local::Hot { cost: 51 });
        stage.answered(&user, None, now);
        assert_eq!(stage.attempt(&user, now), Local::Hot { cost: 1 });
        assert_eq!(
            stage.attempt(&UserId::new(8).unwrap(), now),
            Local::Passes,
            "others are unaffected"
        );
        let rested = now + Duration::from_secs(5);
        assert_eq!(stage.attempt(&user, rested), Local::Passes);
    }

    #[test]
    fn r66_whom_redis_refused_is_refused_here_until_a_token_is_there() {
        let (stage, user, now) = (stage(), UserId::new(7).unwrap(), Instant::now());
        let wait = Duration::from_millis(40);
        while stage.attempt(&user, now) == Local::Passes {}
        stage.answered(&user, Some(wait), now);
        assert_eq!(stage.attempt(&user, now), Local::Refused(wait));
        assert_eq!(stage.attempt(&user, now + wait), Local::Hot { cost: 1 });
    }

    #[test]
    fn memory_is_bounded_by_who_called_lately() {
        let (stage, mut now) = (stage(), Instant::now());
        for user in 1..=400_000 {
            now += Duration::from_micros(100);
            stage.attempt(&UserId::new(user).unwrap(), now);
        }
        let held: usize = stage
            .shards
            .iter()
            .map(|shard| shard.lock().unwrap().seen.len())
            .sum();
        assert!(held <= SHARDS * SWEEP_FROM, "{held}");
    }

    #[test]
    fn no_tokens_a_second_is_no_limit() {
        assert!(Stage::<UserId>::new("grab", Rate::OFF).is_none());
    }
}
