//! Vouchers as everybody sees them, and what an operator hands in to create a sale.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{SaleState, SaleWindow, Timestamp, VoucherId};

/// The largest stock of one sale: one Redis hash holds a claim for each unit.
pub const MAX_STOCK: i64 = 10_000_000;
const MAX_TITLE: usize = 100;
const MAX_SUB_TITLE: usize = 200;
const MAX_RULES: usize = 2000;
/// Prices are 32-bit cents in the ledger.
const MAX_CENTS: i64 = i32::MAX as i64;

/// A voucher on sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Voucher {
    /// Its id.
    pub id: VoucherId,
    /// What it is called. Plain text: show it as such.
    pub title: String,
    /// A line below the title; may be empty.
    pub sub_title: String,
    /// The terms of use; may be empty.
    pub rules: String,
    /// What the shopper pays, in cents.
    pub pay_value: i64,
    /// What it is worth, in cents.
    pub actual_value: i64,
    /// Units left, as Redis has it.
    pub stock: i64,
    /// Units published, with later changes.
    pub initial_stock: i64,
    /// Nothing is left in Redis, and something in the ledger: what is on its way becomes orders, or comes back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// The sale's state by Redis' clock.
    pub state: SaleState,
    /// The opening instant.
    pub begins_at: Timestamp,
    /// The first instant in which nothing is sold any more.
    pub ends_at: Timestamp,
}

/// What an operator hands in to create a sale; nothing about it has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SaleDraft {
    /// 1 to 100 characters.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub title: String,
    /// Up to 200 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub sub_title: String,
    /// Up to 2000 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub rules: String,
    /// Cents, 1 to 2147483647.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub pay_value: i64,
    /// Cents, 1 to 2147483647.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub actual_value: i64,
    /// Units, 1 to 10000000.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 10_000_000))]
    pub stock: i64,
    /// In the past: live at once.
    pub begins_at: Timestamp,
    /// After `begins_at` and in the future.
    pub ends_at: Timestamp,
}

/// A checked sale, ready to be published. Made by [`SaleDraft::check`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSale {
    /// 1 to 100 characters, trimmed.
    pub title: String,
    /// Up to 200 characters, trimmed.
    pub sub_title: String,
    /// Up to 2000 characters, trimmed.
    pub rules: String,
    /// Cents.
    pub pay_value: i32,
    /// Cents.
    pub actual_value: i32,
    /// Units.
    pub stock: i32,
    /// Begins before it ends, and ends in the future.
    pub window: SaleWindow,
}

/// What an operator hands in to change a sale; its stock is changed by itself. Nothing about it has been checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SaleEdit {
    /// 1 to 100 characters.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub title: String,
    /// Up to 200 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 200))]
    pub sub_title: String,
    /// Up to 2000 characters.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub rules: String,
    /// Cents, 1 to 2147483647.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub pay_value: i64,
    /// Cents, 1 to 2147483647.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 2_147_483_647))]
    pub actual_value: i64,
    /// Can't be moved once the sale has begun.
    pub begins_at: Timestamp,
    /// After `begins_at` and in the future.
    pub ends_at: Timestamp,
}

/// A checked edit. Made by [`SaleEdit::check`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedSale {
    /// 1 to 100 characters, trimmed.
    pub title: String,
    /// Up to 200 characters, trimmed.
    pub sub_title: String,
    /// Up to 2000 characters, trimmed.
    pub rules: String,
    /// Cents.
    pub pay_value: i32,
    /// Cents.
    pub actual_value: i32,
    /// Begins before it ends, and ends in the future.
    pub window: SaleWindow,
}

impl SaleEdit {
    /// Checks every field, as for a new sale; `before` is the window that the sale has now.
    pub fn check(self, before: SaleWindow, now: Timestamp) -> Result<EditedSale, FieldErrors> {
        let moved = self.begins_at != before.begins_at && before.begins_at <= now;
        let draft = SaleDraft {
            title: self.title,
            sub_title: self.sub_title,
            rules: self.rules,
            pay_value: self.pay_value,
            actual_value: self.actual_value,
            stock: 1,
            begins_at: self.begins_at,
            ends_at: self.ends_at,
        };
        let begun = FieldError {
            code: "begun",
            text: "The sale has begun: its opening can't be moved any more.",
        };
        match draft.check(now) {
            Ok(_) if moved => Err(FieldErrors::from([("begins_at", begun)])),
            Ok(sale) => Ok(EditedSale {
                title: sale.title,
                sub_title: sale.sub_title,
                rules: sale.rules,
                pay_value: sale.pay_value,
                actual_value: sale.actual_value,
                window: sale.window,
            }),
            Err(mut errors) => {
                if moved {
                    errors.insert("begins_at", begun);
                }
                Err(errors)
            }
        }
    }
}

/// What is wrong with one field: a stable code and words for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldError {
    /// Stable, for programs.
    pub code: &'static str,
    /// For people.
    pub text: &'static str,
}

/// What is wrong with a draft, by field.
pub type FieldErrors = BTreeMap<&'static str, FieldError>;

impl SaleDraft {
    /// Checks every field at once, so that a person sees all that is wrong.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the ranges were checked just before"
    )]
    pub fn check(self, now: Timestamp) -> Result<NewSale, FieldErrors> {
        let mut errors = FieldErrors::new();
        let mut wrong = |field, code, text| {
            errors.insert(field, FieldError { code, text });
        };
        let clean = |text: &str| text.trim().to_owned();
        let (title, sub_title, rules) = (clean(&self.title), clean(&self.sub_title), clean(&self.rules));
        let control = |text: &str| {
            text.chars()
                .any(|c| c.is_control() && c != '\n' && c != '\r' && c != '\t')
        };

        if title.is_empty() {
            wrong("title", "required", "Give the sale a title.");
        } else if title.chars().count() > MAX_TITLE {
            wrong("title", "too_long", "A title has at most 100 characters.");
        } else if title.chars().any(char::is_control) {
            wrong("title", "bad_text", "A title is one line of plain text.");
        }
        if sub_title.chars().count() > MAX_SUB_TITLE {
            wrong("sub_title", "too_long", "A subtitle has at most 200 characters.");
        } else if sub_title.chars().any(char::is_control) {
            wrong("sub_title", "bad_text", "A subtitle is one line of plain text.");
        }
        if rules.chars().count() > MAX_RULES {
            wrong("rules", "too_long", "Rules have at most 2000 characters.");
        } else if control(&rules) {
            wrong("rules", "bad_text", "Rules are plain text.");
        }
        if !(1..=MAX_CENTS).contains(&self.pay_value) {
            wrong(
                "pay_value",
                "out_of_range",
                "A price is from 1 to 2147483647 cents.",
            );
        }
        if !(1..=MAX_CENTS).contains(&self.actual_value) {
            wrong(
                "actual_value",
                "out_of_range",
                "A value is from 1 to 2147483647 cents.",
            );
        }
        if !(1..=MAX_STOCK).contains(&self.stock) {
            wrong("stock", "out_of_range", "A stock is from 1 to 10000000 units.");
        }
        if self.ends_at <= self.begins_at {
            wrong("ends_at", "before_begin", "A sale ends after it begins.");
        } else if self.ends_at <= now {
            wrong("ends_at", "in_the_past", "A sale ends in the future.");
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(NewSale {
            title,
            sub_title,
            rules,
            pay_value: self.pay_value as i32,
            actual_value: self.actual_value as i32,
            stock: self.stock as i32,
            window: SaleWindow {
                begins_at: self.begins_at,
                ends_at: self.ends_at,
            },
        })
    }
}

/// A change of stock: plus or minus n, never zero, with a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StockDelta {
    delta: i32,
    reason: String,
}

impl StockDelta {
    /// Checks range and reason (1 to 200 characters).
    pub fn check(delta: i64, reason: &str) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::new();
        let reason = reason.trim();
        if reason.is_empty() {
            errors.insert(
                "reason",
                FieldError {
                    code: "required",
                    text: "Say why the stock changes.",
                },
            );
        } else if reason.chars().count() > MAX_SUB_TITLE || reason.chars().any(char::is_control) {
            errors.insert(
                "reason",
                FieldError {
                    code: "too_long",
                    text: "A reason is one line of at most 200 characters.",
                },
            );
        }
        match i32::try_from(delta) {
            Ok(delta) if delta != 0 && i64::from(delta).abs() <= MAX_STOCK && errors.is_empty() => Ok(Self {
                delta,
                reason: reason.to_owned(),
            }),
            Ok(delta) if delta != 0 && i64::from(delta).abs() <= MAX_STOCK => Err(errors),
            _ => {
                let text = "A change is from -10000000 to 10000000 units, and not 0.";
                errors.insert(
                    "delta",
                    FieldError {
                        code: "out_of_range",
                        text,
                    },
                );
                Err(errors)
            }
        }
    }

    /// Units, not zero.
    pub const fn delta(&self) -> i32 {
        self.delta
    }

    /// Why.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft() -> SaleDraft {
        SaleDraft {
            title: " <b>Lunch</b> ".into(),
            sub_title: String::new(),
            rules: "one\ntwo".into(),
            pay_value: 4750,
            actual_value: 5000,
            stock: 100,
            begins_at: Timestamp::from_millis(1_000_000),
            ends_at: Timestamp::from_millis(2_000_000),
        }
    }

    fn codes(draft: SaleDraft) -> Vec<(&'static str, &'static str)> {
        let errors = draft.check(Timestamp::from_millis(1_500_000)).unwrap_err();
        errors
            .into_iter()
            .map(|(field, error)| (field, error.code))
            .collect()
    }

    #[test]
    fn a_sound_draft_passes_with_its_texts_trimmed_and_html_kept_as_text() {
        let sale = draft().check(Timestamp::from_millis(1_500_000)).unwrap();
        assert_eq!(sale.title, "<b>Lunch</b>");
        assert_eq!(sale.stock, 100);
    }

    #[test]
    fn every_field_out_of_range_is_named_with_its_code() {
        assert_eq!(
            codes(SaleDraft {
                title: "  ".into(),
                ..draft()
            }),
            [("title", "required")]
        );
        assert_eq!(
            codes(SaleDraft {
                title: "x".repeat(101),
                ..draft()
            }),
            [("title", "too_long")]
        );
        assert_eq!(
            codes(SaleDraft {
                title: "a\0b".into(),
                ..draft()
            }),
            [("title", "bad_text")]
        );
        assert_eq!(
            codes(SaleDraft {
                sub_title: "x".repeat(201),
                ..draft()
            }),
            [("sub_title", "too_long")]
        );
        assert_eq!(
            codes(SaleDraft {
                rules: "x".repeat(2001),
                ..draft()
            }),
            [("rules", "too_long")]
        );
        assert_eq!(
            codes(SaleDraft {
                rules: "a\0".into(),
                ..draft()
            }),
            [("rules", "bad_text")]
        );
        for cents in [0, -5, 1 << 31, 1 << 60] {
            assert_eq!(
                codes(SaleDraft {
                    pay_value: cents,
                    ..draft()
                }),
                [("pay_value", "out_of_range")]
            );
            assert_eq!(
                codes(SaleDraft {
                    actual_value: cents,
                    ..draft()
                }),
                [("actual_value", "out_of_range")]
            );
        }
        for stock in [0, -1, 10_000_001, 1 << 31, i64::MAX] {
            assert_eq!(codes(SaleDraft { stock, ..draft() }), [("stock", "out_of_range")]);
        }
        assert_eq!(
            codes(SaleDraft {
                ends_at: draft().begins_at,
                ..draft()
            }),
            [("ends_at", "before_begin")]
        );
        let past = SaleDraft {
            ends_at: Timestamp::from_millis(1_400_000),
            ..draft()
        };
        assert_eq!(codes(past), [("ends_at", "in_the_past")]);
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let bad = SaleDraft {
            title: String::new(),
            stock: 0,
            pay_value: 0,
            ..draft()
        };
        assert_eq!(codes(bad).len(), 3);
    }

    #[test]
    fn a_stock_change_needs_a_number_and_a_reason() {
        assert_eq!(StockDelta::check(-3, " broken ").unwrap().reason(), "broken");
        for delta in [0, 1 << 31, i64::MIN, 10_000_001] {
            assert_eq!(
                StockDelta::check(delta, "x").unwrap_err()["delta"].code,
                "out_of_range"
            );
        }
        assert_eq!(StockDelta::check(1, " ").unwrap_err()["reason"].code, "required");
    }
}
