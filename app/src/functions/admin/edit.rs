//! Changing what a sale says of itself, and its window.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::{super::Refusal, DraftForm};

/// What became of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edited {
    /// It is saved.
    Saved,
    /// What was saved is what was there; nothing was written.
    Unchanged,
    /// There is no such sale.
    Unknown,
    /// It has ended for good.
    Ended,
    /// Redis does not hold it now.
    NotLoaded,
    /// What is wrong, as codes by field; nothing was written.
    Invalid(BTreeMap<String, String>),
}

/// Changes a sale. Only the fields that differ from what the form showed are changed: two operators who edit different
/// fields at once both get what they want, and saving an untouched form changes nothing (R47).
#[server(name = EditSale, prefix = "/api/fn", endpoint = "edit_sale")]
pub async fn edit_sale(
    /// Which sale.
    #[server(default)]
    voucher_id: String,
    /// The form as typed.
    #[server(default)]
    draft: DraftForm,
    /// The form as it was shown.
    #[server(default)]
    was: DraftForm,
) -> Result<Edited, Refusal> {
    use super::{
        super::reply::{failed, operator, parsed, see},
        page_of,
        reading::{codes, edit_of, read_edit, rejected},
    };
    use domain::VoucherId;
    use engine::{EditError, SteerError};

    let page = page_of(&voucher_id);
    let (context, user) = operator(&page).await?;
    let id: VoucherId = parsed(&voucher_id)?;
    let tell = |edited: Edited, word: &str| {
        see(&format!("{page}?told={word}"));
        Ok(edited)
    };
    let invalid = |wrong: BTreeMap<String, String>| {
        see(&(rejected(&page, &draft, &wrong) + "#edit"));
        Ok(Edited::Invalid(wrong))
    };
    let trouble = |error: &engine::EngineError| {
        let codes = BTreeMap::from([("form".to_owned(), "trouble".to_owned())]);
        see(&rejected(&page, &draft, &codes));
        Err(failed(error))
    };
    let voucher = match context.engine.sale(id).await {
        Ok(Some(voucher)) => voucher,
        Ok(None) => return tell(Edited::Unknown, "unknown"),
        Err(error) => return trouble(&error),
    };
    let edit = match read_edit(&draft, &was, &voucher) {
        Ok(edit) => edit,
        Err(wrong) => return invalid(wrong),
    };
    if edit == edit_of(&voucher) {
        return tell(Edited::Unchanged, "unchanged");
    }
    match context.engine.edit(user, id, edit).await {
        Ok(()) => tell(Edited::Saved, "saved"),
        Err(EditError::Invalid(errors)) => invalid(codes(&errors)),
        Err(EditError::Steer(SteerError::Unknown)) => tell(Edited::Unknown, "unknown"),
        Err(EditError::Steer(SteerError::Ended)) => tell(Edited::Ended, "ended"),
        Err(EditError::Steer(
            SteerError::NotLoaded | SteerError::TooFewLeft | SteerError::Draft | SteerError::Over,
        )) => tell(Edited::NotLoaded, "not_loaded"),
        Err(EditError::Steer(SteerError::Engine(error)) | EditError::Engine(error)) => trouble(&error),
    }
}
