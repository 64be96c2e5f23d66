//! The form of a sale, as typed: from its texts to a draft or an edit, and back to the form with what is wrong.

use serde::{Deserialize, Serialize};

/// The form of a sale, as typed: so that every field can say what is wrong with it, and nothing typed is lost.
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

/// What is wrong, as codes by field.
#[cfg(feature = "ssr")]
pub(super) type Wrong = std::collections::BTreeMap<String, String>;

#[cfg(feature = "ssr")]
impl DraftForm {
    /// The form of a sale that is there. No part of its times is lost: they come back as they were.
    pub(crate) fn of(voucher: &domain::Voucher) -> Self {
        let money = |cents: i64| format!("{}.{:02}", cents / 100, cents.rem_euclid(100));
        let time = |at: domain::Timestamp| {
            let text = at.to_string();
            let text = text.trim_end_matches('Z').trim_end_matches(".000");
            text[..if at.millis() % 60_000 == 0 { 16 } else { text.len() }].to_owned()
        };
        Self {
            title: voucher.title.clone(),
            sub_title: voucher.sub_title.clone(),
            rules: voucher.rules.clone(),
            pay_value: money(voucher.pay_value),
            actual_value: money(voucher.actual_value),
            stock: String::new(),
            begins_at: time(voucher.begins_at),
            ends_at: time(voucher.ends_at),
        }
    }
}
