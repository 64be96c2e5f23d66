//! Natural batching: grabs of one voucher that arrive while a script call is under way go together in the next.

use std::sync::Arc;

use domain::{GrabOutcome, UserId, VoucherId};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::memory::Memory;
use crate::{
    EngineError, FailPoints,
    catalogue::Catalogue,
    crowd::Crowd,
    kv::{GrabReply, Kv},
    metrics::Metrics,
    order_ids::OrderIds,
};

/// What all lanes share.
pub(crate) struct LaneParts {
    pub(crate) kv: Kv,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) ids: OrderIds,
    pub(crate) metrics: Metrics,
    pub(crate) crowd: Arc<Crowd>,
    /// Attempts in one call, at most.
    pub(crate) batch: usize,
    /// Attempts that may wait.
    pub(crate) queue: usize,
    pub(crate) fail_points: FailPoints,
}

struct Waiting {
    user: UserId,
    answer: oneshot::Sender<GrabOutcome>,
}

/// A voucher's lane: one task, one call at a time. It ends when the last handle is dropped.
#[derive(Clone)]
pub(crate) struct Lane {
    entrance: mpsc::Sender<Waiting>,
    memory: Arc<Memory>,
}

impl Lane {
    pub(crate) fn open(voucher: VoucherId, parts: Arc<LaneParts>) -> Self {
        let (entrance, queue) = mpsc::channel(parts.queue);
        let memory = Arc::new(Memory::default());
        tokio::spawn(run(voucher, parts, queue, memory.clone()));
        Self { entrance, memory }
    }

    /// Whether its task runs.
    pub(crate) fn is_open(&self) -> bool {
        !self.entrance.is_closed()
    }

    /// Units came back, or may have.
    pub(crate) fn forget(&self) {
        self.memory.forget();
    }

    /// Waits for this attempt's turn and its answer. `epoch` is what the caller knows of the sale.
    pub(crate) async fn grab(&self, user: UserId, epoch: i64) -> GrabOutcome {
        if let Some(known) = self.memory.answer(user, epoch) {
            return known;
        }
        let (answer, told) = oneshot::channel();
        // A full lane means that Redis is slower than the crowd: an early refusal keeps those inside fast.
        if self.entrance.try_send(Waiting { user, answer }).is_err() {
            return GrabOutcome::Busy;
        }
        told.await.unwrap_or(GrabOutcome::Busy)
    }
}

async fn run(
    voucher: VoucherId,
    parts: Arc<LaneParts>,
    mut queue: mpsc::Receiver<Waiting>,
    memory: Arc<Memory>,
) {
    let mut waiting = Vec::with_capacity(parts.batch);
    while queue.recv_many(&mut waiting, parts.batch).await > 0 {
        parts.crowd.note(waiting.len());
        let users: Vec<UserId> = waiting.iter().map(|one| one.user).collect();
        match decide(voucher, &parts, &users).await {
            Ok(outcomes) => {
                parts.fail_points.hit("P3").await;
                if is_of_an_empty_shelf(&outcomes) {
                    memory.keep(&parts.kv, voucher);
                }
                for (one, outcome) in waiting.drain(..).zip(outcomes) {
                    // Whoever hung up keeps the unit: the same call again tells.
                    let _ = one.answer.send(outcome);
                }
                parts.fail_points.hit("P4").await;
            }
            Err(kind) => {
                if parts.metrics.trouble(kind.0) {
                    tracing::warn!(trouble = %kind.1, %voucher, attempts = users.len(), "a grab call went wrong");
                }
                // Those in the call may have got a unit, those behind have not; both are told to ask again, at once:
                // letting the line wait for one time-out after another would help nobody (K30).
                while let Ok(one) = queue.try_recv() {
                    waiting.push(one);
                }
                for one in waiting.drain(..) {
                    let _ = one.answer.send(GrabOutcome::Busy);
                }
            }
        }
    }
}

/// Nobody got a unit, and the sale is open: perhaps nothing is left. A crowd of owners alone never hears "out of stock".
fn is_of_an_empty_shelf(outcomes: &[GrabOutcome]) -> bool {
    outcomes
        .iter()
        .all(|outcome| matches!(outcome, GrabOutcome::SoldOut | GrabOutcome::AlreadyOrdered { .. }))
}

/// A trouble's kind, for the counter, and its words, for the log.
type Failure = (&'static str, EngineError);

async fn decide(
    voucher: VoucherId,
    parts: &LaneParts,
    users: &[UserId],
) -> Result<Vec<GrabOutcome>, Failure> {
    let Some(sale) = parts.catalogue.held(voucher) else {
        return Ok(vec![GrabOutcome::NotReady; users.len()]);
    };
    let ids = parts
        .ids
        .mint(users.len())
        .await
        .map_err(|error| (error.kind(), error))?;
    let attempts: Vec<_> = users.iter().copied().zip(ids).collect();
    parts.fail_points.hit("P1").await;
    let began = Instant::now();
    let replies = parts.kv.grab(voucher, sale.epoch, &attempts).await;
    let replies = replies
        .map_err(EngineError::from)
        .map_err(|error| (error.kind(), error))?;
    parts.fail_points.hit("P2").await;
    parts.metrics.grab_seconds.observe(began.elapsed().as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
    parts.metrics.grab_batch.observe(attempts.len() as f64);
    let outcomes = replies
        .into_iter()
        .zip(&attempts)
        .map(|(reply, (_, order_id))| match reply {
            GrabReply::Queued => GrabOutcome::Queued { order_id: *order_id },
            other => other.into(),
        });
    Ok(outcomes.collect())
}
