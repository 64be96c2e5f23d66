//! Entries that were delivered before: taken over from dead consumers, or left by an earlier life of this one.

use std::collections::HashMap;

use super::{PassReport, Worker};
use crate::{
    EngineError,
    kv::{Dead, EntryId, HELD, Payload},
};

/// An entry that was delivered more often is settled alone: perhaps it is what ends the process (R20).
const BATCHED_DELIVERIES: u64 = 3;
/// An entry that was tried alone more often is held for an operator.
const LONELY_TRIES: u64 = 3;

impl Worker {
    /// Claims every entry that some consumer has had for too long, to the end of the pending list, and settles it.
    /// A claim from a consumer that is only slow does no harm: a settle that finds the order written changes nothing.
    pub(super) async fn claim_left_behind(&mut self) -> Result<PassReport, EngineError> {
        let (idle, batch) = (self.desk.settings.claim_idle, self.desk.settings.batch);
        let mut total = PassReport::default();
        let mut cursor = None;
        loop {
            let (next, entries) = self.reader()?.claim(idle, cursor, batch).await?;
            if !entries.is_empty() {
                self.desk.settings.fail_points.hit("J").await;
                let n = entries.len() as u64;
                self.desk.metrics.claimed.inc_by(n);
                tracing::info!(
                    n,
                    partition = self.desk.partition.number(),
                    "took over entries that a consumer left"
                );
                total += self.settle_again(entries).await?;
                total.claimed += n;
            }
            cursor = next;
            if cursor.is_none() || self.stop.is_cancelled() {
                return Ok(total);
            }
        }
    }

    /// Settles entries that were delivered before. Those that come again and again go one by one, each try counted
    /// before it is made, so that the one to blame is found even if it ends the process each time.
    pub(super) async fn settle_again(
        &mut self,
        entries: Vec<(EntryId, Payload)>,
    ) -> Result<PassReport, EngineError> {
        let (Some((first, _)), Some((last, _))) = (entries.first(), entries.last()) else {
            return Ok(PassReport::default());
        };
        let consumer = &self.desk.settings.consumer;
        let counts = self
            .desk
            .kv
            .deliveries(self.desk.partition, consumer, *first, *last, entries.len())
            .await?;
        let counts: HashMap<EntryId, u64> = counts.into_iter().collect();
        let often = |id: &EntryId| counts.get(id).is_some_and(|n| *n > BATCHED_DELIVERIES);
        let (suspects, plain): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(id, _)| often(id));
        let mut total = PassReport::default();
        if !plain.is_empty() {
            total += self.settle(plain).await?;
        }
        for (id, payload) in suspects {
            let settled = if self.desk.kv.count_try(self.desk.partition, id).await? > LONELY_TRIES {
                self.hold(id, &payload).await
            } else {
                self.settle(vec![(id, payload)]).await
            };
            // Only a try that ended the process counts: a store in trouble is not the entry's fault.
            self.desk.kv.forget_tries(self.desk.partition, id).await?;
            total += settled?;
        }
        Ok(total)
    }

    /// Moves an entry to the dead stream without giving its unit back: its outcome is unknown, an operator decides.
    async fn hold(&self, id: EntryId, payload: &Payload) -> Result<PassReport, EngineError> {
        let (order, text) = match payload {
            Payload::Order(entry) => (Some(*entry), format!("{entry:?}")),
            Payload::Bad(text) => (None, text.clone()),
            Payload::Gone => (None, String::new()),
        };
        tracing::error!(entry = %id, "an entry is held: it could not be settled, try after try");
        let dead = [Dead {
            entry: id,
            reason: HELD,
            order,
            payload: text,
        }];
        self.desk
            .kv
            .finish(self.desk.partition, &[id], &dead, None)
            .await?;
        self.desk.metrics.dead.inc();
        Ok(PassReport {
            read: 1,
            dead: 1,
            ..PassReport::default()
        })
    }
}
