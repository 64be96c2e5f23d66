//! What the clients saw: every attempt, and every state of an order that was told to its owner.

use std::{
    io::Write,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use tokio::time::Instant;

/// How an attempt ended, as the client knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// 202 with an order id.
    Queued(i64),
    /// 409 with the id of the order that the user has.
    Already(i64),
    /// A clear no, by its code.
    Refused(String),
    /// A no for now: the answer says that nothing was taken and to ask again.
    NotYet(String),
    /// Nobody knows: no answer, or one that says so.
    Unknown(String),
}

impl Outcome {
    /// The order that the user was told to have.
    pub(crate) const fn order(&self) -> Option<i64> {
        match self {
            Self::Queued(id) | Self::Already(id) => Some(*id),
            _ => None,
        }
    }

    /// Whether the user need not ask again.
    pub(crate) const fn is_final(&self) -> bool {
        matches!(self, Self::Queued(_) | Self::Already(_) | Self::Refused(_))
    }
}

/// One attempt. Times are milliseconds on the harness' clock.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Attempt {
    /// The person's place in the crowd.
    pub(crate) person: usize,
    /// The port of the server that was asked.
    pub(crate) server: u16,
    /// When the call began.
    pub(crate) sent: u64,
    /// When it ended.
    pub(crate) ended: u64,
    /// How.
    pub(crate) outcome: Outcome,
}

/// A state that an owner was told, by a read or by an event.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Sighting {
    /// The person's place in the crowd.
    pub(crate) person: usize,
    /// Which order.
    pub(crate) order: i64,
    /// `queued`, `confirmed`, `failed`…
    pub(crate) state: String,
    /// When the read was sent, or the event came.
    pub(crate) sent: u64,
    /// When it was known.
    pub(crate) told: u64,
}

/// All that was seen in a scenario.
#[derive(Debug)]
pub(crate) struct History {
    start: Instant,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    attempts: Vec<Attempt>,
    sightings: Vec<Sighting>,
}

impl History {
    /// An empty one; its clock starts now.
    pub(crate) fn new() -> Self {
        Self {
            start: Instant::now(),
            seen: Mutex::default(),
        }
    }

    /// Milliseconds since the start.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an attempt.
    pub(crate) fn tried(&self, attempt: Attempt) {
        self.seen().attempts.push(attempt);
    }

    /// Adds a sighting.
    pub(crate) fn saw(&self, sighting: Sighting) {
        self.seen().sightings.push(sighting);
    }

    /// All attempts so far, in the order in which they ended.
    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.seen().attempts.clone()
    }

    /// All sightings so far.
    pub(crate) fn sightings(&self) -> Vec<Sighting> {
        self.seen().sightings.clone()
    }

    /// How many attempts were answered with an order id.
    pub(crate) fn accepted(&self) -> usize {
        let seen = self.seen();
        seen.attempts
            .iter()
            .filter(|attempt| matches!(attempt.outcome, Outcome::Queued(_)))
            .count()
    }

    /// How many attempts ended like this since a moment.
    pub(crate) fn count_since(&self, since: u64, like: impl Fn(&Outcome) -> bool) -> usize {
        let seen = self.seen();
        seen.attempts
            .iter()
            .filter(|a| a.sent >= since && like(&a.outcome))
            .count()
    }

    /// When the first attempt that was sent after a moment ended like this.
    pub(crate) fn first_since(&self, since: u64, like: impl Fn(&Outcome) -> bool) -> Option<u64> {
        let seen = self.seen();
        let those = seen
            .attempts
            .iter()
            .filter(|a| a.sent >= since && like(&a.outcome));
        those.map(|attempt| attempt.ended).min()
    }

    /// Writes everything as lines of JSON.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let mut out = std::io::BufWriter::new(std::fs::File::create(file)?);
        let seen = self.seen();
        for attempt in &seen.attempts {
            writeln!(out, "{}", serde_json::to_string(attempt)?)?;
        }
        for sighting in &seen.sightings {
            writeln!(out, "{}", serde_json::to_string(sighting)?)?;
        }
        Ok(out.flush()?)
    }
}
