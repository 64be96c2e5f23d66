//! Reading the stream, and keeping up with it.

use tokio::time::{Duration, Instant};

use super::{
    PassReport, Worker,
    settle::{Delivered, Written},
};
use crate::{
    EngineError,
    kv::{EntryId, Payload},
};

/// Entries that were read ahead and waited for longer than this are taken anew before they are settled.
const STALE: Duration = Duration::from_secs(1);

impl Worker {
    /// Settles what was delivered to this consumer's name before and never acknowledged, to the end.
    pub(super) async fn catch_up(&mut self) -> Result<PassReport, EngineError> {
        let mut total = PassReport::default();
        while !self.stop.is_cancelled() {
            let batch = self.desk.settings.batch;
            let entries = self.reader()?.own_pending(batch).await?;
            if entries.is_empty() {
                break;
            }
            total += self.settle_again(entries).await?;
        }
        Ok(total)
    }

    /// Waits for fresh entries and settles them, and all that come meanwhile as long as there is a full batch of them.
    pub(super) async fn read_fresh(&mut self) -> Result<PassReport, EngineError> {
        let batch = self.desk.settings.batch;
        let mut entries = self.reader()?.fresh(batch).await?;
        if !entries.is_empty() && self.gives_way() {
            self.let_the_crowd_pass().await;
            if entries.len() < batch {
                let room = batch - entries.len();
                entries.extend(self.reader()?.at_once(room).await?);
            }
            self.take_anew(&entries).await?;
        }
        let (mut total, mut written) = (PassReport::default(), None);
        loop {
            let full = entries.len() >= batch;
            self.working_off &= full;
            if entries.is_empty() {
                break;
            }
            let more =
                full && !self.gives_way() && !self.stop.is_cancelled() && self.clock.now() < self.next_claim;
            let next;
            (total, written, next) = self.step_on(total, written.take(), entries, more).await?;
            entries = next;
        }
        if let Some(written) = written {
            total += self.desk.conclude(written).await?;
        }
        Ok(total)
    }

    /// Entries that waited in hand count as delivered just now, lest another consumer thinks them left behind.
    async fn take_anew(&mut self, entries: &[(EntryId, Payload)]) -> Result<(), EngineError> {
        let ids: Vec<EntryId> = entries.iter().map(|(id, _)| *id).collect();
        Ok(self.reader()?.take_anew(&ids).await?)
    }

    /// Writes `entries`; meanwhile the batch before them is acknowledged and the one after them is read.
    ///
    /// On an error nothing is lost: what was not written stays in hand, what was not acknowledged stays pending.
    async fn step_on(
        &mut self,
        mut total: PassReport,
        before: Option<Written>,
        entries: Delivered,
        more: bool,
    ) -> Result<(PassReport, Option<Written>, Delivered), EngineError> {
        let began = Instant::now();
        let Self { desk, reader, .. } = self;
        let batch = desk.settings.batch;
        let acknowledge = async {
            match before {
                Some(written) => desk.conclude(written).await,
                None => Ok(PassReport::default()),
            }
        };
        let read = async {
            match reader.as_mut().filter(|_| more) {
                Some(reader) => reader.at_once(batch).await,
                None => Ok(Delivered::new()),
            }
        };
        let (acknowledged, written, next) = tokio::join!(acknowledge, desk.write(&entries), read);
        if acknowledged.is_err() || next.is_err() {
            // What was delivered to nobody, or not acknowledged, is found as this consumer's own pending.
            self.lose_reader();
        }
        let written = match written {
            Ok(written) => written,
            Err(error) => {
                let ahead = next.unwrap_or_default();
                if error.is_ledger_trouble() {
                    self.in_hand.extend(entries.into_iter().chain(ahead));
                } else {
                    self.lose_reader();
                }
                return Err(error);
            }
        };
        total += acknowledged?;
        let next = match next {
            Ok(next) => next,
            Err(error) => {
                self.desk.conclude(written).await?;
                return Err(error.into());
            }
        };
        if began.elapsed() > STALE && !next.is_empty() {
            self.take_anew(&next).await?;
        }
        Ok((total, Some(written), next))
    }
}
