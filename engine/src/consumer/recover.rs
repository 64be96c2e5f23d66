//! Taking over what dead consumers left.

use super::{PassReport, Worker};
use crate::EngineError;

impl Worker {
    /// Claims every entry that some consumer has had for too long, to the end of the pending list, and settles it.
    /// A claim from a consumer that is only slow does no harm: a settle that finds the order written changes nothing.
    pub(super) async fn claim_left_behind(&mut self) -> Result<PassReport, EngineError> {
        let (idle, batch) = (self.settings.claim_idle, self.settings.batch);
        let mut total = PassReport::default();
        let mut cursor = None;
        loop {
            let (next, entries) = self.reader()?.claim(idle, cursor, batch).await?;
            if !entries.is_empty() {
                self.settings.fail_points.hit("J").await;
                let n = entries.len() as u64;
                self.metrics.claimed.inc_by(n);
                tracing::info!(
                    n,
                    partition = self.partition.number(),
                    "took over entries that a consumer left"
                );
                total += self.settle(entries).await?;
                total.claimed += n;
            }
            cursor = next;
            if cursor.is_none() || self.stop.is_cancelled() {
                return Ok(total);
            }
        }
    }
}
