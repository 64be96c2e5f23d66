//! Dead letters, for operators: replay one, or release its unit. A unit is released only once the ledger says for
//! certain that the order failed.

use domain::{OrderId, OrderState, Timestamp, UserId, VoucherId};
use serde::{Deserialize, Serialize};

use crate::{
    EngineError,
    kv::{Kv, Letter, LetterId, ReplayReply},
    ledger::{
        Ledger, LedgerError, audit, orders,
        settle::{self, Queued},
    },
};

/// A dead letter as operators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeadLetter {
    /// Names it in calls.
    pub id: String,
    /// When it died, by Redis' clock.
    pub at: Timestamp,
    /// Why: `unreadable`, `unwritable` or `held` (the outcome is unknown).
    pub reason: String,
    /// Whose order it was; absent where the entry could not be read.
    pub user_id: Option<UserId>,
    /// The order.
    pub order_id: Option<OrderId>,
    /// What was bought.
    pub voucher_id: Option<VoucherId>,
    /// The entry's fields as text. Plain text: show it as such.
    pub payload: String,
}

/// What became of a call on a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterOutcome {
    /// It is queued again.
    Replayed,
    /// The order is marked as failed, and its unit went back if it had not before.
    Released,
    /// The order is written in the ledger: there was nothing to release, the letter is dropped.
    WasSettled,
    /// The letter held no order; it is dropped by a release, and can't be replayed.
    NoOrder,
    /// There is no such letter.
    Gone,
}

pub(crate) struct DeadLetters {
    pub(crate) kv: Kv,
    pub(crate) ledger: Ledger,
}

impl DeadLetters {
    /// The newest letters.
    pub(crate) async fn all(&self) -> Result<Vec<DeadLetter>, EngineError> {
        let mut all = Vec::new();
        for partition in self.kv.keys().partitions() {
            all.extend(self.kv.dead_letters(partition).await?.into_iter().map(shown));
        }
        Ok(all)
    }

    /// Queues a letter's order again.
    pub(crate) async fn replay(&self, actor: UserId, id: &str) -> Result<LetterOutcome, EngineError> {
        let Ok(id) = id.parse::<LetterId>() else {
            return Ok(LetterOutcome::Gone);
        };
        let letter = self.kv.dead_letter(id).await?;
        match self.kv.replay(id).await? {
            ReplayReply::Gone => Ok(LetterOutcome::Gone),
            ReplayReply::NoOrder => Ok(LetterOutcome::NoOrder),
            ReplayReply::Queued => {
                self.note(actor, "replayed", letter.as_ref()).await?;
                Ok(LetterOutcome::Replayed)
            }
        }
    }

    /// Gives a letter's unit back. The failed row is written first: from then on no consumer can confirm the order, so
    /// the unit returns exactly once however often this is called (R14).
    pub(crate) async fn release(&self, actor: UserId, id: &str) -> Result<LetterOutcome, EngineError> {
        let Ok(id) = id.parse::<LetterId>() else {
            return Ok(LetterOutcome::Gone);
        };
        let Some(letter) = self.kv.dead_letter(id).await? else {
            return Ok(LetterOutcome::Gone);
        };
        let Some(entry) = letter.order else {
            self.note(actor, "dropped", Some(&letter)).await?;
            self.kv.drop_letter(&letter).await?;
            return Ok(LetterOutcome::NoOrder);
        };
        let queued = Queued {
            order: entry.order,
            user: entry.user,
            voucher: entry.voucher,
            epoch: None,
        };
        let mut tx = self.ledger.begin().await?;
        settle::reject(&mut tx, &queued).await?;
        let row = orders::states(&mut *tx, &[(entry.user, entry.order)])
            .await?
            .pop()
            .flatten();
        tx.commit().await.map_err(LedgerError::from)?;
        let outcome = match row {
            Some((OrderState::Failed, instead)) => {
                self.kv
                    .give_back(entry.voucher, entry.user, entry.order, instead)
                    .await?;
                LetterOutcome::Released
            }
            Some(_) => LetterOutcome::WasSettled,
            // Voucher or account are unknown to the ledger: nobody can ever confirm it.
            None => {
                self.kv
                    .give_back(entry.voucher, entry.user, entry.order, None)
                    .await?;
                LetterOutcome::Released
            }
        };
        self.note(actor, "released", Some(&letter)).await?;
        self.kv.drop_letter(&letter).await?;
        Ok(outcome)
    }

    async fn note(&self, actor: UserId, action: &str, letter: Option<&Letter>) -> Result<(), EngineError> {
        let Some(letter) = letter else { return Ok(()) };
        let voucher = letter.order.map(|order| order.voucher);
        let order = letter
            .order
            .map_or_else(String::new, |order| format!("order {}, ", order.order));
        let detail = format!("dead letter {}: {order}{}", letter.id, letter.reason);
        let written = audit::write(&self.ledger.pages, Some(actor), action, voucher, &detail).await;
        match written {
            // A letter for a voucher that does not exist has no page in the log.
            Err(LedgerError::Refused(_)) => {
                Ok(audit::write(&self.ledger.pages, Some(actor), action, None, &detail).await?)
            }
            other => Ok(other?),
        }
    }
}

fn shown(letter: Letter) -> DeadLetter {
    DeadLetter {
        id: letter.id.to_string(),
        at: Timestamp::from_millis(i64::try_from(letter.id.entry.millis).unwrap_or(0)),
        reason: letter.reason,
        user_id: letter.order.map(|order| order.user),
        order_id: letter.order.map(|order| order.order),
        voucher_id: letter.order.map(|order| order.voucher),
        payload: letter.payload,
    }
}
