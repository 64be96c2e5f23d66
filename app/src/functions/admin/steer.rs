//! Pause, resume, end.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Refusal;

/// What became of a pause, a resume or an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steered {
    /// Done.
    Done,
    /// An end can't be undone: it needs to be confirmed.
    Unconfirmed,
    /// There is no such sale.
    Unknown,
    /// It has ended for good.
    Ended,
    /// Redis does not hold it now.
    NotLoaded,
}

/// Pauses, resumes or ends a sale.
#[server(name = Steer, prefix = "/api/fn", endpoint = "steer")]
pub async fn steer(
    /// Which sale.
    #[server(default)]
    voucher_id: String,
    /// `pause`, `resume` or `end`.
    #[server(default)]
    action: String,
    /// `yes`, which an end needs.
    #[server(default)]
    sure: String,
) -> Result<Steered, Refusal> {
    use super::{
        super::reply::{failed, operator, parsed, refuse, see},
        page_of,
    };
    use domain::{Control, VoucherId};
    use engine::SteerError;

    let page = page_of(&voucher_id);
    let (context, user) = operator(&page).await?;
    let id: VoucherId = parsed(&voucher_id)?;
    let control = match action.as_str() {
        "pause" => Control::Paused,
        "resume" => Control::Running,
        "end" => Control::Ended,
        _ => return Err(refuse(Refusal::Invalid)),
    };
    let (steered, told) = if control == Control::Ended && sure != "yes" {
        (Ok(Steered::Unconfirmed), "confirm")
    } else {
        match context.engine.steer(user, id, control).await {
            Ok(()) => (Ok(Steered::Done), "done"),
            Err(SteerError::Unknown) => (Ok(Steered::Unknown), "unknown"),
            Err(SteerError::Ended) => (Ok(Steered::Ended), "ended"),
            Err(SteerError::NotLoaded | SteerError::TooFewLeft) => (Ok(Steered::NotLoaded), "not_loaded"),
            Err(SteerError::Engine(error)) => (Err(failed(&error)), "trouble"),
        }
    };
    see(&format!("{page}?told={told}"));
    steered
}
