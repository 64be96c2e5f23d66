//! A grab from the voucher page.

use domain::GrabOutcome;
use leptos::prelude::*;

use super::Refusal;

/// One attempt to get a unit. A stranger is sent to the login and back.
#[server(name = Grab, prefix = "/api/fn", endpoint = "grab")]
pub async fn grab(
    /// Which voucher.
    #[server(default)]
    voucher_id: String,
) -> Result<GrabOutcome, Refusal> {
    use super::reply::{self, signed_in};
    use crate::model::Note;

    let voucher = reply::parsed(&voucher_id)?;
    let page = format!("/vouchers/{voucher}");
    let (context, user) = signed_in(&page)?;
    let outcome = match context.engine.grab(user, voucher).await {
        Ok(outcome) => outcome,
        Err(error) => {
            reply::see(&format!("{page}?told={}", Note::Trouble.word()));
            return Err(reply::failed(&error));
        }
    };
    match Note::of(outcome) {
        Some(note) => {
            let seconds = note.wait().map(|seconds| format!("&wait={seconds}"));
            reply::see(&format!(
                "{page}?told={}{}",
                note.word(),
                seconds.unwrap_or_default()
            ));
        }
        None => reply::see(&page),
    }
    Ok(outcome)
}
