//! From what was typed to a draft or an edit, and back to the form with what is wrong.

use std::fmt::Write;

use domain::{FieldErrors, SaleDraft, SaleEdit, Timestamp, Voucher};

use super::form::{DraftForm, Wrong};
use crate::format::query_escaped;

pub(super) fn codes(errors: &FieldErrors) -> Wrong {
    errors
        .iter()
        .map(|(field, error)| ((*field).to_owned(), error.code.to_owned()))
        .collect()
}

/// `title:required,stock:out_of_range`.
pub(super) fn listed(wrong: &Wrong) -> String {
    let pairs: Vec<String> = wrong
        .iter()
        .map(|(field, code)| format!("{field}:{code}"))
        .collect();
    pairs.join(",")
}

/// The form's page, with all that was typed and what is wrong with it.
pub(super) fn rejected(page: &str, draft: &DraftForm, wrong: &Wrong) -> String {
    let mut path = format!("{page}?wrong={}", query_escaped(&listed(wrong)));
    for (name, value, most) in [
        ("title", &draft.title, 200),
        ("sub_title", &draft.sub_title, 400),
        ("rules", &draft.rules, 2100),
        ("pay_value", &draft.pay_value, 40),
        ("actual_value", &draft.actual_value, 40),
        ("stock", &draft.stock, 40),
        ("begins_at", &draft.begins_at, 40),
        ("ends_at", &draft.ends_at, 40),
    ] {
        // An address has its limits, a proxy's being 32 KB (deploy/nginx); what is far too long is cut, and the field
        // says so.
        let kept: String = value.chars().take(most).collect();
        let _ = write!(path, "&{name}={}", query_escaped(&kept));
    }
    path
}

/// Reads the form of a new sale. What can't be read at all is named here, what is out of bounds by the draft's own
/// check; both at once.
pub(super) fn read_draft(form: &DraftForm, now: Timestamp) -> Result<SaleDraft, Wrong> {
    let mut wrong = Wrong::new();
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
        rules: lines(&form.rules),
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

/// Reads the form of a sale that is there: what was typed over what the form had shown, and the sale's own values for
/// all else. Only what can't be read at all is named here.
pub(super) fn read_edit(form: &DraftForm, was: &DraftForm, voucher: &Voucher) -> Result<SaleEdit, Wrong> {
    let mut edit = edit_of(voucher);
    let mut wrong = Wrong::new();
    for (typed, shown, target) in [
        (&form.title, &was.title, &mut edit.title),
        (&form.sub_title, &was.sub_title, &mut edit.sub_title),
        (&form.rules, &was.rules, &mut edit.rules),
    ] {
        let typed = lines(typed);
        if typed != lines(shown) {
            typed.trim().clone_into(target);
        }
    }
    for (field, typed, shown, target) in [
        ("pay_value", &form.pay_value, &was.pay_value, &mut edit.pay_value),
        (
            "actual_value",
            &form.actual_value,
            &was.actual_value,
            &mut edit.actual_value,
        ),
    ] {
        match cents(typed) {
            _ if typed == shown => {}
            Some(cents) => *target = cents,
            None => _ = wrong.insert(field.to_owned(), "not_money".to_owned()),
        }
    }
    for (field, typed, shown, target) in [
        ("begins_at", &form.begins_at, &was.begins_at, &mut edit.begins_at),
        ("ends_at", &form.ends_at, &was.ends_at, &mut edit.ends_at),
    ] {
        match utc(typed) {
            // Browsers write one instant in more than one way.
            Some(at) if Some(at) == utc(shown) => {}
            Some(at) => *target = at,
            None => _ = wrong.insert(field.to_owned(), "not_a_time".to_owned()),
        }
    }
    if wrong.is_empty() { Ok(edit) } else { Err(wrong) }
}

/// The edit that changes nothing.
pub(super) fn edit_of(voucher: &Voucher) -> SaleEdit {
    SaleEdit {
        title: voucher.title.clone(),
        sub_title: voucher.sub_title.clone(),
        rules: voucher.rules.clone(),
        pay_value: voucher.pay_value,
        actual_value: voucher.actual_value,
        begins_at: voucher.begins_at,
        ends_at: voucher.ends_at,
    }
}

/// Forms send line breaks as CRLF.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n")
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
pub(crate) fn utc(text: &str) -> Option<Timestamp> {
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
        let draft = read_draft(&form(), at("2026-11-30T19:00:00Z")).unwrap();
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
        let wrong = read_draft(&form, at("2026-11-30T19:00:00Z")).unwrap_err();
        assert_eq!(
            listed(&wrong),
            "begins_at:not_a_time,pay_value:not_money,stock:out_of_range,title:required"
        );
    }

    fn voucher() -> Voucher {
        Voucher {
            id: "7".parse().unwrap(),
            title: "Lunch".into(),
            sub_title: String::new(),
            rules: "one\ntwo".into(),
            pay_value: 4750,
            actual_value: 5000,
            stock: 3,
            held: false,
            initial_stock: 9,
            state: domain::SaleState::Live,
            begins_at: at("2026-11-30T20:00:00.120Z"),
            ends_at: at("2026-11-30T21:00:00Z"),
        }
    }

    #[test]
    fn r47_a_form_that_comes_back_untouched_changes_nothing() {
        let shown = DraftForm::of(&voucher());
        assert_eq!(shown.begins_at, "2026-11-30T20:00:00.120");
        assert_eq!(shown.ends_at, "2026-11-30T21:00");
        // As a browser sends it.
        let typed = DraftForm {
            rules: "one\r\ntwo".into(),
            begins_at: "2026-11-30T20:00:00.12".into(),
            ..shown.clone()
        };
        assert_eq!(
            read_edit(&typed, &shown, &voucher()).unwrap(),
            edit_of(&voucher())
        );
    }

    #[test]
    fn an_edit_leaves_alone_what_another_operator_changed_meanwhile() {
        let shown = DraftForm::of(&voucher());
        let typed = DraftForm {
            title: " Dinner ".into(),
            ..shown.clone()
        };
        let now = Voucher {
            pay_value: 100,
            ..voucher()
        };
        let edit = read_edit(&typed, &shown, &now).unwrap();
        assert_eq!((edit.title.as_str(), edit.pay_value), ("Dinner", 100));
    }

    #[test]
    fn an_edit_names_what_can_not_be_read() {
        let shown = DraftForm::of(&voucher());
        let typed = DraftForm {
            pay_value: "4,75".into(),
            ends_at: "soon".into(),
            ..shown.clone()
        };
        let wrong = read_edit(&typed, &shown, &voucher()).unwrap_err();
        assert_eq!(listed(&wrong), "ends_at:not_a_time,pay_value:not_money");
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
