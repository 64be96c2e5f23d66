//! What keeps a process going: tasks, checks, the end.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Engine, Readiness};
use crate::{EngineError, Guardian, Worker, consumer::Desk, events::hear_news};

/// How often a process looks whether the sales have changed, in case it was not told.
const RENEW_EVERY: Duration = Duration::from_secs(1);
/// An entry that has waited for longer than this, in milliseconds, means that nobody settles.
const STUCK_MS: u64 = 10_000;

impl Engine {
    /// The consumers of this process, one a partition. Each runs in a task of its own; stepped by hand in tests.
    pub fn workers(&self, stop: &CancellationToken) -> Vec<Worker> {
        let inner = &self.inner;
        let worker = |partition| {
            let desk = Desk {
                kv: inner.kv.clone(),
                ledger: inner.ledger.clone(),
                metrics: inner.metrics.clone(),
                settings: inner.settings.clone(),
                partition,
            };
            Worker::new(desk, inner.clock.clone(), inner.crowd.clone(), stop.clone())
        };
        inner.kv.keys().partitions().map(worker).collect()
    }

    /// The guardian of this process. Runs in a task of its own; stepped by hand in tests.
    pub fn guardian(&self, stop: &CancellationToken) -> Guardian {
        let inner = &self.inner;
        Guardian::new(
            inner.kv.clone(),
            inner.ledger.clone(),
            inner.catalogue.clone(),
            inner.locks.clone(),
            inner.metrics.clone(),
            inner.clock.clone(),
            inner.settings.clone(),
            stop.clone(),
        )
    }

    /// Reads the stock for listeners, until stopped.
    pub async fn keep_board(&self, stop: &CancellationToken) {
        self.inner.board.run(stop).await;
    }

    /// Hears other processes' news, until stopped.
    pub async fn hear_news(&self, stop: &CancellationToken) {
        let inner = &self.inner;
        hear_news(
            &inner.kv,
            &inner.hub,
            &inner.accounts,
            &inner.catalogue,
            &inner.metrics,
            &inner.locks,
            stop,
        )
        .await;
    }

    /// Keeps the catalogue fresh, until stopped.
    pub async fn keep_catalogue(&self, stop: &CancellationToken) {
        let mut ticks = tokio::time::interval(RENEW_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.inner.catalogue.renew().await
                && self.inner.metrics.trouble("catalogue")
            {
                tracing::warn!(%error, "the catalogue could not be renewed; grabs go on");
            }
        }
    }

    /// What Redis' settings mean for the promise; refused at start where they break it.
    pub async fn preflight(&self) -> Result<Vec<String>, EngineError> {
        let Some(redis) = self.inner.kv.preflight().await? else {
            return Ok(Vec::new());
        };
        let mut wrong = Vec::new();
        if redis.eviction != "noeviction" {
            wrong.push(format!(
                "maxmemory-policy is {}: set noeviction, or stock and orders vanish",
                redis.eviction
            ));
        }
        if !redis.append_only {
            wrong.push(
                "appendonly is off: set it to yes, or accepted orders are lost with the process".to_owned(),
            );
        }
        if redis.append_only && redis.fsync == "no" {
            wrong.push("appendfsync is no: set always (or everysec, which may lose a second)".to_owned());
        }
        Ok(wrong)
    }

    /// Whether the stores answer and the consumer moves.
    pub async fn readiness(&self) -> Readiness {
        let mut troubles = Vec::new();
        if self.inner.kv.probe_grab().await.is_err() {
            troubles.push("redis does not run the script");
        }
        match self.streams().await {
            Ok(streams) if streams.iter().any(|stream| stream.oldest_ms > Some(STUCK_MS)) => {
                troubles.push("entries wait and none settles");
            }
            Ok(_) => {}
            Err(_) => troubles.push("redis does not tell what waits"),
        }
        Readiness { troubles }
    }

    /// Reads the sales from the ledger now.
    pub async fn renew(&self) -> Result<(), EngineError> {
        self.inner.catalogue.renew().await
    }

    /// Notes in Redis that this shop is a demo.
    pub async fn mark_demo(&self) -> Result<(), EngineError> {
        Ok(self.inner.kv.mark_demo().await?)
    }

    /// Whether this shop was started in demo mode.
    pub async fn is_demo(&self) -> Result<bool, EngineError> {
        Ok(self.inner.kv.is_demo().await?)
    }

    /// Closes the pools.
    pub async fn close(&self) {
        self.inner.ledger.close().await;
    }
}
