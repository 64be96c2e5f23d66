//! What the engine is told at start, checked together.

use std::time::Duration;

use crate::{FailPoints, Rates};

/// The engine's settings. Every number that a person might tune, with its default.
#[derive(Debug, Clone)]
pub struct EngineSettings {
    /// `redis://…` or `redis+unix:///…`.
    pub redis_url: String,
    /// `postgresql://…`
    pub database_url: String,
    /// Parts of the key space, each with a stream of its own.
    pub partitions: u16,
    /// This consumer's name in the group; unique among all processes.
    pub consumer: String,
    /// Entries settled in one transaction, at most.
    pub batch: usize,
    /// While a crowd presses, the consumer of the same process waits, for this long at most.
    pub settle_patience: Duration,
    /// How long a read of the stream waits for the first entry.
    pub block: Duration,
    /// After this long a call to Redis counts as unanswered.
    pub response_timeout: Duration,
    /// The longest honest settle: PostgreSQL cancels a statement that takes longer.
    pub settle_timeout: Duration,
    /// An entry that a consumer has had for longer than this is taken over by another.
    pub claim_idle: Duration,
    /// How often the consumer looks for such entries.
    pub claim_every: Duration,
    /// Connections for pages and admin calls.
    pub page_connections: u32,
    /// Connections for the consumer and recovery.
    pub worker_connections: u32,
    /// A session that is not used for this long ends.
    pub session_life: Duration,
    /// How long a process trusts a session that it has seen, before it asks Redis again. Long enough for a shopper who
    /// opens the page and waits for the sale; whoever logs out is forgotten at once, by the news.
    pub session_memory: Duration,
    /// A one-time login code is good for this long.
    pub code_life: Duration,
    /// This long after an unused code no other is sent.
    pub code_pause: Duration,
    /// Wrong tries after which a code is used up.
    pub code_tries: u32,
    /// How often the stock is read for pages that listen.
    pub tick: Duration,
    /// Order ids leased at once.
    pub id_lease: u32,
    /// Grabs of one voucher sent in one script call, at most.
    pub grab_batch: usize,
    /// Grabs of one voucher that may wait for a call; more are told "busy".
    pub grab_queue: usize,
    /// How often one person may call. Off unless told otherwise.
    pub rates: Rates,
    /// Only for the fault harness.
    pub fail_points: FailPoints,
}

impl EngineSettings {
    /// The defaults, for these stores.
    pub fn new(
        redis_url: impl Into<String>,
        database_url: impl Into<String>,
        consumer: impl Into<String>,
    ) -> Self {
        Self {
            redis_url: redis_url.into(),
            database_url: database_url.into(),
            partitions: 1,
            consumer: consumer.into(),
            batch: 512,
            settle_patience: Duration::from_secs(2),
            block: Duration::from_secs(1),
            response_timeout: Duration::from_secs(2),
            settle_timeout: Duration::from_secs(5),
            claim_idle: Duration::from_secs(15),
            claim_every: Duration::from_secs(5),
            page_connections: 8,
            worker_connections: 4,
            session_life: Duration::from_hours(12),
            session_memory: Duration::from_mins(1),
            code_life: Duration::from_mins(5),
            code_pause: Duration::from_secs(30),
            code_tries: 5,
            tick: Duration::from_millis(200),
            id_lease: 4096,
            grab_batch: 256,
            grab_queue: 8192,
            rates: Rates::OFF,
            fail_points: FailPoints::default(),
        }
    }

    /// Checks the settings against each other.
    pub fn check(&self) -> Result<(), SettingsError> {
        let rule = |holds: bool, text: &'static str| if holds { Ok(()) } else { Err(SettingsError(text)) };
        rule(self.partitions > 0, "partitions: at least 1")?;
        rule(
            (1..=4096).contains(&self.batch),
            "settle batch: 1 to 4096 entries",
        )?;
        rule(
            (1..=1024).contains(&self.grab_batch),
            "grab batch: 1 to 1024 attempts (Lua's stack ends there)",
        )?;
        rule(
            self.grab_queue >= self.grab_batch,
            "grab queue: at least one grab batch",
        )?;
        rule(
            self.id_lease as usize >= self.grab_batch,
            "id lease: at least one grab batch",
        )?;
        rule(!self.consumer.is_empty(), "consumer name: not empty")?;
        rule(
            self.page_connections > 0 && self.worker_connections > 0,
            "connections: at least 1 of each kind",
        )?;
        rule(
            self.block >= Duration::from_millis(10),
            "block: at least 10 ms, or an idle consumer spins",
        )?;
        rule(
            self.settle_patience <= Duration::from_secs(5),
            "settle patience: at most 5 s, or a crowd looks like a consumer that hangs",
        )?;
        rule(
            self.claim_idle > self.settle_patience,
            "claim idle: longer than the settle patience, or what waits for a crowd to pass is taken over (R22)",
        )?;
        // A settle is two statements that may each take the whole time-out, a give-back and an acknowledgement.
        let slowest = self.settle_timeout * 2 + self.response_timeout;
        rule(
            self.claim_idle > slowest,
            "claim idle: longer than two settle time-outs and a Redis time-out, or live work is taken over (R22)",
        )
    }
}

/// A setting, or two of them together, can't work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("settings: {0}")]
pub struct SettingsError(&'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_work_and_a_short_claim_time_is_refused() {
        let good = EngineSettings::new("redis://", "postgresql://", "c");
        assert_eq!(good.check(), Ok(()));
        let r22 = EngineSettings {
            claim_idle: good.settle_timeout,
            ..good.clone()
        };
        assert!(r22.check().unwrap_err().to_string().contains("claim idle"));
        let patient = EngineSettings {
            claim_idle: Duration::from_millis(1500),
            settle_timeout: Duration::from_millis(100),
            response_timeout: Duration::from_millis(100),
            ..good.clone()
        };
        assert!(
            patient
                .check()
                .unwrap_err()
                .to_string()
                .contains("settle patience")
        );
        assert!(
            EngineSettings {
                batch: 0,
                ..good.clone()
            }
            .check()
            .is_err()
        );
        assert!(
            EngineSettings {
                grab_batch: 4000,
                ..good
            }
            .check()
            .is_err()
        );
    }
}
