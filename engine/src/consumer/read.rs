//! Reading the stream.

use super::{PassReport, Worker};
use crate::EngineError;

impl Worker {
    /// Settles what was delivered to this consumer's name before and never acknowledged, to the end.
    pub(super) async fn catch_up(&mut self) -> Result<PassReport, EngineError> {
        let mut total = PassReport::default();
        while !self.stop.is_cancelled() {
            let batch = self.settings.batch;
            let entries = self.reader()?.own_pending(batch).await?;
            if entries.is_empty() {
                break;
            }
            total += self.settle_again(entries).await?;
        }
        Ok(total)
    }

    /// Waits for fresh entries and settles them.
    pub(super) async fn read_fresh(&mut self) -> Result<PassReport, EngineError> {
        let batch = self.settings.batch;
        let entries = self.reader()?.fresh(batch).await?;
        if entries.is_empty() {
            Ok(PassReport::default())
        } else {
            self.settle(entries).await
        }
    }
}
