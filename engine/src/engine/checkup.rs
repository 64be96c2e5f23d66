//! For those who run it: how the stores are, how full the pools, and what to do about it.

use domain::Timestamp;

use super::Engine;
use crate::{EngineError, ledger::vitals::vitals};

/// Clocks that differ by more than this, in milliseconds, are worth a word: pages count down by the process's clock and
/// sales open by Redis'.
const SKEW_MS: i64 = 500;
/// Redis: ACL-free scripts with `#!lua` came with 7.0. PostgreSQL: the oldest that is tested.
const OLDEST_REDIS: u32 = 7;
const OLDEST_POSTGRES: u32 = 15;
/// Of Redis' memory, in percent: above it there is trouble ahead, since nothing may be evicted.
const FULL_PERCENT: u64 = 80;

/// A finding, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// As it should be.
    Good(String),
    /// The shop runs, but see to it.
    Warning(String),
    /// The shop must not run like this.
    Wrong(String),
}

/// A pool of connections to PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub struct PoolState {
    /// `pages` or `worker`.
    pub name: &'static str,
    /// Open.
    pub open: u32,
    /// Of these, in nobody's hands.
    pub idle: u32,
    /// Open at the most. All open and none idle: whoever comes next waits.
    pub most: u32,
}

impl Engine {
    /// The pools of this process.
    pub fn pools(&self) -> [PoolState; 2] {
        let settings = &self.inner.settings;
        let [pages, worker] = self.inner.ledger.connections();
        let state = |name, (open, idle), most| PoolState {
            name,
            open,
            idle,
            most,
        };
        [
            state("pages", pages, settings.page_connections),
            state("worker", worker, settings.worker_connections),
        ]
    }

    /// Looks at Redis. An error means that it can't be reached.
    pub async fn check_redis(&self) -> Result<Vec<Finding>, EngineError> {
        let vitals = self.inner.kv.vitals().await?;
        let mut found = vec![Finding::at_least("Redis", &vitals.version, OLDEST_REDIS)];
        if vitals.role != "master" {
            found.push(Finding::Wrong(format!(
                "Redis is a {}: give the address of the one that takes writes",
                vitals.role
            )));
        }
        if vitals.max_memory > 0 && vitals.used_memory * 100 > vitals.max_memory * FULL_PERCENT {
            found.push(Finding::Warning(format!(
                "Redis uses {} of {} MB: raise maxmemory before the sale, since a full Redis refuses grabs",
                vitals.used_memory >> 20,
                vitals.max_memory >> 20
            )));
        }
        found.push(Finding::skew("Redis", vitals.clock, self.now()));
        found.extend(self.preflight().await?.into_iter().map(Finding::Wrong));
        Ok(found)
    }

    /// Looks at PostgreSQL. An error means that it can't be reached.
    pub async fn check_ledger(&self) -> Result<Vec<Finding>, EngineError> {
        let vitals = vitals(&self.inner.ledger.pages).await?;
        let mut found = vec![Finding::at_least("PostgreSQL", &vitals.version, OLDEST_POSTGRES)];
        found.push(Finding::skew("PostgreSQL", vitals.clock, self.now()));
        if vitals.read_only {
            found.push(Finding::Wrong(
                "PostgreSQL takes no writes: give the address of the primary".to_owned(),
            ));
        }
        if vitals.synchronous_commit == "off" {
            found.push(Finding::Warning(
                "synchronous_commit is off: a confirmed order may be lost with the machine; set it to on"
                    .to_owned(),
            ));
        }
        found.push(match vitals.missing_steps {
            0 => Finding::Good("the schema is up to date".to_owned()),
            1.. => Finding::Wrong("the schema is old or missing: run `server migrate`".to_owned()),
            _ => Finding::Warning(
                "the schema is newer than this program: install the newer program soon".to_owned(),
            ),
        });
        let ours: i64 = self.pools().iter().map(|pool| i64::from(pool.most)).sum();
        let (most, free) = (vitals.max_connections, vitals.max_connections - vitals.others);
        found.push(if ours > most {
            Finding::Wrong(format!(
                "this process may open {ours} connections and PostgreSQL takes {most}: lower SECKILL_PAGE_CONNECTIONS \
                 or SECKILL_WORKER_CONNECTIONS, or raise max_connections"
            ))
        } else if ours > free {
            Finding::Warning(format!(
                "this process may open {ours} connections, and of {most} others hold {} now",
                vitals.others
            ))
        } else {
            Finding::Good(format!("{ours} connections a process; PostgreSQL takes {most}"))
        });
        Ok(found)
    }
}

impl Finding {
    fn at_least(what: &str, version: &str, oldest: u32) -> Self {
        let major = version
            .split(['.', ' '])
            .next()
            .and_then(|major| major.parse::<u32>().ok());
        if major.is_some_and(|major| major >= oldest) {
            Self::Good(format!("{what} {version}"))
        } else {
            Self::Wrong(format!(
                "{what} {version} is too old: {oldest} or newer is needed"
            ))
        }
    }

    fn skew(what: &str, theirs: Timestamp, ours: Timestamp) -> Self {
        let skew = theirs.millis() - ours.millis();
        if skew.abs() <= SKEW_MS {
            Self::Good(format!("{what}'s clock agrees with this machine's ({skew} ms)"))
        } else {
            Self::Warning(format!(
                "{what}'s clock is off by {skew} ms against this machine: run NTP on both"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_clocks_are_judged() {
        assert!(matches!(
            Finding::at_least("Redis", "7.0.15", 7),
            Finding::Good(_)
        ));
        assert!(matches!(
            Finding::at_least("Redis", "6.2.1", 7),
            Finding::Wrong(_)
        ));
        assert!(matches!(
            Finding::at_least("PostgreSQL", "15.18 (Debian 15.18-0)", 15),
            Finding::Good(_)
        ));
        let at = Timestamp::from_millis;
        assert!(matches!(
            Finding::skew("Redis", at(10_000), at(10_400)),
            Finding::Good(_)
        ));
        assert!(matches!(
            Finding::skew("Redis", at(10_000), at(12_000)),
            Finding::Warning(_)
        ));
    }
}
