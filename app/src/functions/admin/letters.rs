//! Dead letters: replay one, or release its unit.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Refusal;

/// What became of a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dealt {
    /// It is queued again.
    Replayed,
    /// Its order has failed and its unit went back.
    Released,
    /// It held no order and is dropped.
    Dropped,
    /// Its order is in the ledger: nothing was released.
    WasSettled,
    /// It held no order: there is nothing to replay.
    NoOrder,
    /// There is no such letter.
    Gone,
    /// A release can't be undone: it needs to be confirmed.
    Unconfirmed,
}

#[cfg(feature = "ssr")]
impl Dealt {
    const PAGE: &str = "/admin/dead";

    fn told(self) -> Self {
        let word = match self {
            Self::Replayed => "replayed",
            Self::Released => "released",
            Self::Dropped => "dropped",
            Self::WasSettled => "was_settled",
            Self::NoOrder => "no_order",
            Self::Gone => "gone",
            Self::Unconfirmed => "confirm",
        };
        super::super::reply::see(&format!("{}?told={word}", Self::PAGE));
        self
    }

    fn failed(error: &engine::EngineError) -> Refusal {
        super::super::reply::see(&format!("{}?told=trouble", Self::PAGE));
        super::super::reply::failed(error)
    }
}

/// Queues a dead letter's order again.
#[server(name = ReplayLetter, prefix = "/api/fn", endpoint = "replay_letter")]
pub async fn replay_letter(
    /// Which letter.
    #[server(default)]
    letter_id: String,
) -> Result<Dealt, Refusal> {
    use super::super::reply::operator;
    use engine::LetterOutcome;

    let (context, user) = operator(Dealt::PAGE).await?;
    let outcome = context.engine.replay_letter(user, &letter_id).await;
    let dealt = match outcome.map_err(|error| Dealt::failed(&error))? {
        LetterOutcome::Replayed => Dealt::Replayed,
        LetterOutcome::NoOrder => Dealt::NoOrder,
        LetterOutcome::Released | LetterOutcome::WasSettled | LetterOutcome::Gone => Dealt::Gone,
    };
    Ok(dealt.told())
}

/// Marks a dead letter's order as failed and gives its unit back; a letter without an order is dropped.
#[server(name = ReleaseLetter, prefix = "/api/fn", endpoint = "release_letter")]
pub async fn release_letter(
    /// Which letter.
    #[server(default)]
    letter_id: String,
    /// `yes`.
    #[server(default)]
    sure: String,
) -> Result<Dealt, Refusal> {
    use super::super::reply::operator;
    use engine::LetterOutcome;

    let (context, user) = operator(Dealt::PAGE).await?;
    if sure != "yes" {
        return Ok(Dealt::Unconfirmed.told());
    }
    let outcome = context.engine.release_letter(user, &letter_id).await;
    let dealt = match outcome.map_err(|error| Dealt::failed(&error))? {
        LetterOutcome::Released => Dealt::Released,
        LetterOutcome::WasSettled => Dealt::WasSettled,
        LetterOutcome::NoOrder => Dealt::Dropped,
        LetterOutcome::Replayed | LetterOutcome::Gone => Dealt::Gone,
    };
    Ok(dealt.told())
}
