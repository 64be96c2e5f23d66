//! Publish, pause, resume, end.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Refusal;

/// What became of a publishing, a pause, a resume or an end.
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
    /// It is a draft, and has to be published first.
    Draft,
    /// It can't be published: its end has passed.
    Over,
    /// Redis does not hold it now.
    NotLoaded,
}

/// Publishes, pauses, resumes or ends a sale.
#[server(name = Steer, prefix = "/api/fn", endpoint = "steer")]
pub async fn steer(
    /// Which sale.
    #[server(default)]
    voucher_id: String,
    /// `publish`, `pause`, `resume` or `end`.
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
    let (control, done) = match action.as_str() {
        "publish" => (None, "published"),
        "pause" => (Some(Control::Paused), "done"),
        "resume" => (Some(Control::Running), "done"),
        "end" => (Some(Control::Ended), "done"),
        _ => return Err(refuse(Refusal::Invalid)),
    };
    let (steered, told) = if control == Some(Control::Ended) && sure != "yes" {
        (Ok(Steered::Unconfirmed), "confirm")
    } else {
        let steered = match control {
            Some(control) => context.engine.steer(user, id, control).await,
            None => context.engine.open(user, id).await,
        };
        match steered {
            Ok(()) => (Ok(Steered::Done), done),
            Err(SteerError::Unknown) => (Ok(Steered::Unknown), "unknown"),
            Err(SteerError::Ended) => (Ok(Steered::Ended), "ended"),
            Err(SteerError::Draft) => (Ok(Steered::Draft), "draft"),
            Err(SteerError::Over) => (Ok(Steered::Over), "over"),
            Err(SteerError::NotLoaded | SteerError::TooFewLeft) => (Ok(Steered::NotLoaded), "not_loaded"),
            Err(SteerError::Engine(error)) => (Err(failed(&error)), "trouble"),
        }
    };
    see(&format!("{page}?told={told}"));
    steered
}
