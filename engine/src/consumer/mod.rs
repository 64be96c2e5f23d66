//! The consumer: reads a partition's stream, settles what it finds into the ledger, takes over what others left.
//!
//! One task a partition, because order within a partition keeps "one live order" cheap: two writers on one voucher
//! would only wait for each other's row lock.

mod read;
mod recover;
mod settle;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::{
    Clock, EngineError,
    crowd::Crowd,
    kv::{KvError, StreamReader, Trouble},
};
use settle::Delivered;

pub(crate) use settle::Desk;
pub use settle::PassReport;

/// After a trouble the next try waits this long at first, and up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
const LONGEST_PAUSE: std::time::Duration = std::time::Duration::from_secs(2);

/// A consumer of one partition.
pub struct Worker {
    desk: Desk,
    clock: Arc<dyn Clock>,
    crowd: Arc<Crowd>,
    stop: CancellationToken,
    reader: Option<StreamReader>,
    /// Entries that the ledger could not take for now. They are settled before anything else is read, without being
    /// delivered again: its trouble burns no delivery count (K38).
    in_hand: Delivered,
    /// The crowd was let pass for as long as the settings say: now the backlog comes first, until it is gone.
    working_off: bool,
    /// Own pending entries were read since the reader was opened.
    caught_up: bool,
    next_claim: domain::Timestamp,
}

impl Worker {
    pub(crate) fn new(desk: Desk, clock: Arc<dyn Clock>, crowd: Arc<Crowd>, stop: CancellationToken) -> Self {
        let next_claim = clock.now();
        Self {
            desk,
            clock,
            crowd,
            stop,
            reader: None,
            in_hand: Delivered::new(),
            working_off: false,
            caught_up: false,
            next_claim,
        }
    }

    /// Works until stopped. A read that is under way is finished first, so that nothing is delivered to nobody (R29).
    pub async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        while !self.stop.is_cancelled() {
            if self.pass().await.is_ok() {
                pause = FIRST_PAUSE;
            } else {
                let stop = self.stop.clone();
                let _ = tokio::time::timeout(pause, stop.cancelled()).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// One pass: own pending entries first, then what others left, then fresh ones. Returns what it did.
    pub async fn pass(&mut self) -> Result<PassReport, EngineError> {
        match self.step().await {
            Err(error) => {
                if self.desk.metrics.trouble(error.kind()) {
                    tracing::warn!(%error, partition = self.desk.partition.number(), "the consumer pauses");
                }
                if !error.is_ledger_trouble() {
                    self.lose_reader();
                }
                Err(error)
            }
            report => report,
        }
    }

    async fn step(&mut self) -> Result<PassReport, EngineError> {
        if !self.in_hand.is_empty() {
            let entries = std::mem::take(&mut self.in_hand);
            return self.settle(entries).await;
        }
        if self.reader.is_none() {
            // An unusable ledger stops the reading before anything is delivered: no delivery count burns (K38).
            let Desk {
                kv,
                ledger,
                settings,
                partition,
                ..
            } = &self.desk;
            ledger.probe().await?;
            if kv.ensure_group(*partition).await? {
                tracing::info!(
                    partition = partition.number(),
                    "the consumer group was missing and is made"
                );
            }
            let reader = kv.reader(*partition, &settings.consumer, settings.block).await?;
            self.reader = Some(reader);
        }
        if !self.caught_up {
            let report = self.catch_up().await?;
            self.caught_up = true;
            if report.read > 0 {
                return Ok(report);
            }
        }
        if self.clock.now() >= self.next_claim {
            self.next_claim = self.clock.now() + self.desk.settings.claim_every;
            let report = self.claim_left_behind().await?;
            if report.read > 0 {
                return Ok(report);
            }
        }
        self.read_fresh().await
    }

    /// Settles a batch to its end. If the ledger is in trouble the batch stays in hand.
    async fn settle(&mut self, entries: Delivered) -> Result<PassReport, EngineError> {
        let settled = self.desk.settle(&entries).await;
        if settled.as_ref().is_err_and(EngineError::is_ledger_trouble) {
            self.in_hand = entries;
        }
        settled
    }

    /// After a trouble with Redis: the next pass begins with a fresh connection, the group and the own pending.
    fn lose_reader(&mut self) {
        self.reader = None;
        self.caught_up = false;
    }

    /// The crowd comes first: while it presses, nothing is settled, for as long as the settings say at most. What is
    /// queued is safe; it is settled in full batches as soon as the crowd has passed.
    async fn let_the_crowd_pass(&mut self) {
        let passed = async {
            while self.crowd.presses() {
                tokio::time::sleep(crate::crowd::GLANCE).await;
            }
        };
        let waited = tokio::time::timeout(self.desk.settings.settle_patience, passed);
        self.stop.run_until_cancelled(waited).await;
        self.working_off = true;
    }

    fn gives_way(&self) -> bool {
        !self.working_off && self.crowd.presses()
    }

    fn reader(&mut self) -> Result<&mut StreamReader, EngineError> {
        self.reader
            .as_mut()
            .ok_or(EngineError::unready("the stream is not open"))
    }
}

impl EngineError {
    /// The kind of trouble, for a counter.
    pub(crate) fn kind(&self) -> &'static str {
        self.kv().map_or("ledger", |error| {
            error.trouble().map_or("unexpected_reply", Trouble::word)
        })
    }

    fn kv(&self) -> Option<&KvError> {
        std::error::Error::source(self).and_then(|source| source.downcast_ref())
    }
}
