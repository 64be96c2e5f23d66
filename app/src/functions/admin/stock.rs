//! Units, plus or minus.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::Refusal;

/// What became of a change of stock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Restocked {
    /// Done.
    Done,
    /// There is no such sale.
    Unknown,
    /// It has ended for good.
    Ended,
    /// Redis does not hold it now.
    NotLoaded,
    /// Fewer units are left than should be taken.
    TooFewLeft,
    /// What is wrong, as codes by field.
    Invalid(BTreeMap<String, String>),
}

/// Adds or takes units.
#[server(name = Restock, prefix = "/api/fn", endpoint = "restock")]
pub async fn restock(
    /// Which sale.
    #[server(default)]
    voucher_id: String,
    /// Plus or minus units, as typed.
    #[server(default)]
    delta: String,
    /// Why.
    #[server(default)]
    reason: String,
) -> Result<Restocked, Refusal> {
    use super::{
        super::reply::{failed, operator, parsed, see},
        page_of,
        reading::{codes, listed},
    };
    use crate::format::query_escaped;
    use domain::{StockDelta, VoucherId};
    use engine::SteerError;

    let page = page_of(&voucher_id);
    let (context, user) = operator(&page).await?;
    let id: VoucherId = parsed(&voucher_id)?;
    // The form again, with what was typed and what is wrong with it.
    let again = |wrong: &BTreeMap<String, String>| {
        let wrong = query_escaped(&listed(wrong));
        let (delta, reason) = (query_escaped(&delta), query_escaped(&reason));
        see(&format!(
            "{page}?wrong={wrong}&delta={delta}&reason={reason}#restock"
        ));
    };
    let typed = delta.trim().trim_start_matches('+').parse::<i64>();
    let change = match StockDelta::check(*typed.as_ref().unwrap_or(&0), &reason) {
        Ok(change) => change,
        Err(errors) => {
            let mut wrong = codes(&errors);
            if typed.is_err() {
                wrong.insert("delta".to_owned(), "not_a_number".to_owned());
            }
            again(&wrong);
            return Ok(Restocked::Invalid(wrong));
        }
    };
    let (restocked, told) = match context.engine.restock(user, id, &change).await {
        Ok(()) => (Ok(Restocked::Done), "done"),
        Err(SteerError::Unknown) => (Ok(Restocked::Unknown), "unknown"),
        Err(SteerError::Ended) => (Ok(Restocked::Ended), "ended"),
        Err(SteerError::NotLoaded | SteerError::Draft | SteerError::Over) => {
            (Ok(Restocked::NotLoaded), "not_loaded")
        }
        Err(SteerError::TooFewLeft) => {
            again(&BTreeMap::from([("delta".to_owned(), "too_few_left".to_owned())]));
            return Ok(Restocked::TooFewLeft);
        }
        Err(SteerError::Engine(error)) => (Err(failed(&error)), "trouble"),
    };
    see(&format!("{page}?told={told}"));
    restocked
}
