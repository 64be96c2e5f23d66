//! What operators' forms call. The role is checked each time.

use std::collections::BTreeMap;

use domain::VoucherId;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::Refusal;

/// The form of a new sale, as typed: so that every field can say what is wrong with it, and nothing typed is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DraftForm {
    /// The title.
    pub title: String,
    /// The line below it.
    pub sub_title: String,
    /// The terms of use.
    pub rules: String,
    /// The price, like `47.50`.
    pub pay_value: String,
    /// The value, like `50`.
    pub actual_value: String,
    /// Units.
    pub stock: String,
    /// `2026-11-30T20:00`, in UTC.
    pub begins_at: String,
    /// `2026-11-30T20:00`, in UTC.
    pub ends_at: String,
}

/// What became of a new sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Created {
    /// It is published.
    Published(VoucherId),
    /// What is wrong, as codes by field; nothing was written.
    Invalid(BTreeMap<String, String>),
}

/// What became of a pause, a resume or an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steered {
    /// Done.
    Done,
    /// There is no such sale.
    Unknown,
    /// It has ended for good.
    Ended,
    /// Redis does not hold it now.
    NotLoaded,
}

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

/// Creates a sale and opens it at its time.
#[server(name = CreateSale, prefix = "/api/fn", endpoint = "create_sale")]
pub async fn create_sale(
    /// The form.
    #[server(default)]
    draft: DraftForm,
) -> Result<Created, Refusal> {
    use super::reply::{failed, operator, see};
    use engine::PublishError;
    use tools::{SHOP, codes, rejected};

    let (context, user) = operator("/admin/vouchers/new").await?;
    let invalid = |wrong: BTreeMap<String, String>| {
        see(&rejected(&draft, &wrong));
        Ok(Created::Invalid(wrong))
    };
    let sale = match tools::read(&draft, context.engine.now()) {
        Ok(sale) => sale,
        Err(wrong) => return invalid(wrong),
    };
    match context.engine.publish(Some(user), SHOP, sale).await {
        Ok(voucher) => {
            see(&format!("/admin/vouchers/{}?told=published", voucher.id));
            Ok(Created::Published(voucher.id))
        }
        Err(PublishError::Invalid(errors)) => invalid(codes(&errors)),
        Err(PublishError::Engine(error)) => {
            see(&rejected(
                &draft,
                &BTreeMap::from([("form".to_owned(), "trouble".to_owned())]),
            ));
            Err(failed(&error))
        }
    }
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
) -> Result<Steered, Refusal> {
    use super::reply::{failed, operator, parsed, see};
    use domain::Control;
    use engine::SteerError;

    let id: VoucherId = parsed(&voucher_id)?;
    let page = format!("/admin/vouchers/{id}");
    let (context, user) = operator(&page).await?;
    let control = match action.as_str() {
        "pause" => Control::Paused,
        "resume" => Control::Running,
        "end" => Control::Ended,
        _ => return Err(super::reply::refuse(Refusal::Invalid)),
    };
    let (steered, told) = match context.engine.steer(user, id, control).await {
        Ok(()) => (Ok(Steered::Done), "done"),
        Err(SteerError::Unknown) => (Ok(Steered::Unknown), "unknown"),
        Err(SteerError::Ended) => (Ok(Steered::Ended), "ended"),
        Err(SteerError::NotLoaded | SteerError::TooFewLeft) => (Ok(Steered::NotLoaded), "not_loaded"),
        Err(SteerError::Engine(error)) => (Err(failed(&error)), "trouble"),
    };
    see(&format!("{page}?told={told}"));
    steered
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
    use super::reply::{failed, operator, parsed, see};
    use crate::format::query_escaped;
    use domain::StockDelta;
    use engine::SteerError;

    let id: VoucherId = parsed(&voucher_id)?;
    let page = format!("/admin/vouchers/{id}");
    let (context, user) = operator(&page).await?;
    // What is no number is out of range like zero.
    let change = match StockDelta::check(delta.trim().trim_start_matches('+').parse().unwrap_or(0), &reason) {
        Ok(change) => change,
        Err(errors) => {
            let (delta, reason) = (query_escaped(&delta), query_escaped(&reason));
            let wrong = tools::codes(&errors);
            let listed = query_escaped(&tools::listed(&wrong));
            see(&format!("{page}?wrong={listed}&delta={delta}&reason={reason}"));
            return Ok(Restocked::Invalid(wrong));
        }
    };
    let (restocked, told) = match context.engine.restock(user, id, &change).await {
        Ok(()) => (Ok(Restocked::Done), "done"),
        Err(SteerError::Unknown) => (Ok(Restocked::Unknown), "unknown"),
        Err(SteerError::Ended) => (Ok(Restocked::Ended), "ended"),
        Err(SteerError::NotLoaded) => (Ok(Restocked::NotLoaded), "not_loaded"),
        Err(SteerError::TooFewLeft) => (Ok(Restocked::TooFewLeft), "too_few_left"),
        Err(SteerError::Engine(error)) => (Err(failed(&error)), "trouble"),
    };
    see(&format!("{page}?told={told}"));
    restocked
}

#[cfg(feature = "ssr")]
mod tools {
    //! From typed text to a draft, and back to the form with what is wrong.

    use std::{collections::BTreeMap, fmt::Write};

    use domain::{FieldErrors, SaleDraft, Timestamp};

    use super::DraftForm;
    use crate::format::query_escaped;

    /// All sales of these pages belong to one shop.
    pub(super) const SHOP: i64 = 1;

    pub(super) fn codes(errors: &FieldErrors) -> BTreeMap<String, String> {
        errors
            .iter()
            .map(|(field, error)| ((*field).to_owned(), error.code.to_owned()))
            .collect()
    }

    /// `title:required,stock:out_of_range`.
    pub(super) fn listed(wrong: &BTreeMap<String, String>) -> String {
        let pairs: Vec<String> = wrong
            .iter()
            .map(|(field, code)| format!("{field}:{code}"))
            .collect();
        pairs.join(",")
    }

    /// The form's page, with all that was typed and what is wrong with it.
    pub(super) fn rejected(draft: &DraftForm, wrong: &BTreeMap<String, String>) -> String {
        let mut path = format!("/admin/vouchers/new?wrong={}", query_escaped(&listed(wrong)));
        for (name, value) in [
            ("title", &draft.title),
            ("sub_title", &draft.sub_title),
            ("rules", &draft.rules),
            ("pay_value", &draft.pay_value),
            ("actual_value", &draft.actual_value),
            ("stock", &draft.stock),
            ("begins_at", &draft.begins_at),
            ("ends_at", &draft.ends_at),
        ] {
            // An address has its limits; what is far too long is cut, and the field says so.
            let kept: String = value.chars().take(2100).collect();
            let _ = write!(path, "&{name}={}", query_escaped(&kept));
        }
        path
    }

    /// Reads the form. What can't be read at all is named here, what is out of bounds by the draft's own check; both
    /// at once.
    pub(super) fn read(form: &DraftForm, now: Timestamp) -> Result<SaleDraft, BTreeMap<String, String>> {
        let mut wrong = BTreeMap::new();
        let mut need = |field: &str, code: &str| {
            wrong.insert(field.to_owned(), code.to_owned());
        };
        let pay_value = cents(&form.pay_value).unwrap_or_else(|| {
            need("pay_value", "not_money");
            1
        });
        let actual_value = cents(&form.actual_value).unwrap_or_else(|| {
            need("actual_value", "not_money");
            1
        });
        let stock = form.stock.trim().parse().unwrap_or_else(|_| {
            need("stock", "not_a_number");
            1
        });
        let begins_at = utc(&form.begins_at);
        let ends_at = utc(&form.ends_at);
        if begins_at.is_none() {
            need("begins_at", "not_a_time");
        }
        if ends_at.is_none() {
            need("ends_at", "not_a_time");
        }
        // Stand-ins that are wrong in nothing, so that the check speaks of the other fields only.
        let later = std::time::Duration::from_mins(1);
        let begins = begins_at.unwrap_or_else(|| ends_at.map_or(now, |ends| ends - later));
        let draft = SaleDraft {
            title: form.title.clone(),
            sub_title: form.sub_title.clone(),
            // Forms send line breaks as CRLF.
            rules: form.rules.replace("\r\n", "\n"),
            pay_value,
            actual_value,
            stock,
            begins_at: begins,
            ends_at: ends_at.unwrap_or_else(|| begins.max(now) + later),
        };
        if let Err(errors) = draft.clone().check(now) {
            for (field, code) in codes(&errors) {
                wrong.entry(field).or_insert(code);
            }
        }
        if wrong.is_empty() { Ok(draft) } else { Err(wrong) }
    }

    /// `47.5` as 4750.
    fn cents(text: &str) -> Option<i64> {
        let text = text.trim().trim_start_matches(['¥', '￥']);
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || part.len() > 2 || !digits(whole) || !digits(part) {
            return None;
        }
        let part: i64 = format!("{part:0<2}").parse().ok()?;
        whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(part)
    }

    /// What a `datetime-local` field sends has no zone; the form says beside it that it is UTC.
    fn utc(text: &str) -> Option<Timestamp> {
        let text = text.trim();
        let seconds = if text.len() == 16 { ":00" } else { "" };
        format!("{text}{seconds}Z").parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn form() -> DraftForm {
            DraftForm {
                title: "Lunch".into(),
                pay_value: "47.5".into(),
                actual_value: "50".into(),
                stock: "100".into(),
                begins_at: "2026-11-30T20:00".into(),
                ends_at: "2026-11-30T21:00:30".into(),
                ..DraftForm::default()
            }
        }

        fn at(text: &str) -> Timestamp {
            text.parse().unwrap()
        }

        #[test]
        fn a_form_is_read_as_cents_and_utc() {
            let draft = read(&form(), at("2026-11-30T19:00:00Z")).unwrap();
            assert_eq!(
                (draft.pay_value, draft.actual_value, draft.stock),
                (4750, 5000, 100)
            );
            assert_eq!(draft.begins_at, at("2026-11-30T20:00:00Z"));
            assert_eq!(draft.ends_at, at("2026-11-30T21:00:30Z"));
        }

        #[test]
        fn all_that_is_wrong_is_named_at_once() {
            let form = DraftForm {
                title: String::new(),
                pay_value: "4,75".into(),
                stock: "-1".into(),
                begins_at: "soon".into(),
                ..form()
            };
            let wrong = read(&form, at("2026-11-30T19:00:00Z")).unwrap_err();
            assert_eq!(
                listed(&wrong),
                "begins_at:not_a_time,pay_value:not_money,stock:out_of_range,title:required"
            );
        }

        #[test]
        fn money_has_two_decimals_at_most() {
            assert_eq!(cents("0.05"), Some(5));
            assert_eq!(cents("¥12"), Some(1200));
            for text in ["", ".5", "1.234", "-1", "1e3", "99999999999999999999"] {
                assert_eq!(cents(text), None, "{text}");
            }
        }
    }
}
