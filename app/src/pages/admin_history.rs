//! The audit log of a sale: when, who, what, before and after.

use std::collections::HashMap;

use domain::UserId;
use engine::{AuditLine, Engine, EngineError};
use leptos::prelude::*;

use super::voucher::time;
use crate::{context, texts::Admin};

/// A line, and the masked phone of whoever did it.
pub(super) type Entry = (AuditLine, Option<String>);

/// Looks the log's accounts up.
pub(super) async fn named(engine: &Engine, lines: Vec<AuditLine>) -> Result<Vec<Entry>, EngineError> {
    let mut phones: HashMap<UserId, Option<String>> = HashMap::new();
    let mut entries = Vec::with_capacity(lines.len());
    for line in lines {
        let phone = match line.actor {
            None => None,
            Some(actor) => {
                if let Some(phone) = phones.get(&actor) {
                    phone.clone()
                } else {
                    let phone = engine.account(actor).await?.map(|account| account.phone);
                    phones.insert(actor, phone.clone());
                    phone
                }
            }
        };
        entries.push((line, phone));
    }
    Ok(entries)
}

/// The log, newest first.
#[component]
pub(super) fn History(
    /// Its lines.
    entries: Vec<Entry>,
    /// Its heading.
    #[prop(optional)]
    heading: Option<&'static str>,
) -> impl IntoView {
    let texts = context::lang().admin();
    let rows: Vec<_> = entries
        .iter()
        .flat_map(|(line, phone)| rows(line, phone.as_deref(), texts))
        .collect();
    drop(entries);
    view! {
        <section>
            <h2 id="history">{heading.unwrap_or(texts.audit)}</h2>
            <div class="scroll" tabindex="0" role="region" aria-labelledby="history">
                <table class="history">
                    <thead>
                        <tr>
                            <th scope="col">{texts.when}</th>
                            <th scope="col">{texts.who}</th>
                            <th scope="col">{texts.what}</th>
                            <th scope="col">{texts.before}</th>
                            <th scope="col">{texts.after}</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    }
}

fn rows(line: &AuditLine, phone: Option<&str>, texts: &'static Admin) -> Vec<impl IntoView + use<>> {
    let who = match line.actor {
        None => texts.system.to_owned(),
        Some(id) => {
            let account = (texts.account)(id.to_string());
            match phone {
                Some(phone) => format!("{phone} ({account})"),
                None => account,
            }
        }
    };
    let what = texts
        .action(&line.action)
        .map_or(line.action.clone(), str::to_owned);
    let (at, changes) = (line.at, Change::read(&line.action, &line.detail));
    changes
        .into_iter()
        .map(|change| {
            let about = match &change.field {
                Some(field) => format!("{what}: {}", texts.field(field)),
                None => what.clone(),
            };
            let shown = |value: &str| match line.action.as_str() {
                "steered" => texts.control(value).to_owned(),
                _ => value.to_owned(),
            };
            view! {
                <tr>
                    <td>{time(at)}</td>
                    <td>{who.clone()}</td>
                    <td>{about}</td>
                    <td class="value">{shown(&change.before)}</td>
                    <td class="value">{shown(&change.after)}</td>
                </tr>
            }
        })
        .collect()
}

/// One change that a line tells of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Change {
    field: Option<String>,
    before: String,
    after: String,
}

impl Change {
    /// Reads a line's detail; what has another form is shown as it is.
    fn read(action: &str, detail: &str) -> Vec<Self> {
        let read = match action {
            "edited" => Self::fields(detail),
            "steered" => detail
                .split_once(" -> ")
                .map(|(before, after)| vec![Self::of(before, after)]),
            "stock" => Self::stock(detail),
            "created" => Self::created(detail),
            _ => None,
        };
        read.unwrap_or_else(|| vec![Self::of("", detail)])
    }

    fn of(before: &str, after: &str) -> Self {
        Self {
            field: None,
            before: before.to_owned(),
            after: after.to_owned(),
        }
    }

    /// `5 units, 2026-11-30T20:00:00.000Z to 2026-11-30T21:00:00.000Z`
    fn created(detail: &str) -> Option<Vec<Self>> {
        let (units, window) = detail.split_once(" units, ")?;
        let (begins_at, ends_at) = window.split_once(" to ")?;
        let fields = [("units", units), ("begins_at", begins_at), ("ends_at", ends_at)];
        let changes = fields.map(|(field, value)| Self {
            field: Some(field.to_owned()),
            ..Self::of("", value)
        });
        Some(changes.into())
    }

    /// `+7 units (5 -> 12): more were found`
    fn stock(detail: &str) -> Option<Vec<Self>> {
        let (delta, rest) = detail.split_once(" (")?;
        let (before, rest) = rest.split_once(" -> ")?;
        let (after, reason) = rest.split_once("): ")?;
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let delta = delta.strip_suffix(" units")?;
        (number(before) && number(after))
            .then(|| vec![Self::of(before, &format!("{after} ({delta}): {reason}"))])
    }

    /// `title: "a" -> "b"; rules: "" -> "c"`
    fn fields(detail: &str) -> Option<Vec<Self>> {
        let mut changes = Vec::new();
        let mut rest = detail;
        while !rest.is_empty() {
            let (field, tail) = rest.split_once(": ")?;
            let (before, tail) = quoted(tail)?;
            let (after, tail) = quoted(tail.strip_prefix(" -> ")?)?;
            changes.push(Self {
                field: Some(field.to_owned()),
                before,
                after,
            });
            rest = tail.strip_prefix("; ").unwrap_or(tail);
        }
        Some(changes)
    }
}

/// A quoted text as Rust writes it for developers, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('"')?.chars();
    let mut plain = String::new();
    loop {
        match chars.next()? {
            '"' => return Some((plain, chars.as_str())),
            '\\' => match chars.next()? {
                'n' => plain.push('\n'),
                't' => plain.push('\t'),
                'r' => plain.push('\r'),
                'u' => {
                    let (code, _) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    plain.push(u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?);
                    let skipped = code.len() + 2;
                    chars = chars.as_str().get(skipped..)?.chars();
                }
                other => plain.push(other),
            },
            other => plain.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_read_field_by_field_whatever_its_texts_hold() {
        let (before, after) = ("a \"b\" -> ; \\", "line\nline\u{200b} 秒杀");
        let detail = format!(
            "title: {before:?} -> {after:?}; pay_value: {:?} -> {:?}",
            "1", "2"
        );
        let changes = Change::read("edited", &detail);
        assert_eq!(changes.len(), 2);
        assert_eq!(
            (changes[0].before.as_str(), changes[0].after.as_str()),
            (before, after)
        );
        assert_eq!(changes[1].field.as_deref(), Some("pay_value"));
    }

    #[test]
    fn a_change_of_stock_tells_before_after_and_why() {
        let changes = Change::read("stock", "+7 units (5 -> 12): more (2 -> 3): found");
        assert_eq!(changes, [Change::of("5", "12 (+7): more (2 -> 3): found")]);
    }

    #[test]
    fn a_new_sale_tells_its_units_and_its_window() {
        let changes = Change::read(
            "created",
            "5 units, 2026-11-30T20:00:00.000Z to 2026-11-30T21:00:00.000Z",
        );
        let told: Vec<_> = changes
            .iter()
            .map(|change| (change.field.as_deref().unwrap(), change.after.as_str()))
            .collect();
        let wanted = [
            ("units", "5"),
            ("begins_at", "2026-11-30T20:00:00.000Z"),
            ("ends_at", "2026-11-30T21:00:00.000Z"),
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn what_has_another_form_is_shown_as_it_is() {
        for (action, detail) in [
            ("edited", "title \"a\""),
            ("stock", "+7 units: why (a -> b): c"),
            ("created", "5 units"),
            ("steered", ""),
        ] {
            assert_eq!(Change::read(action, detail), [Change::of("", detail)], "{action}");
        }
    }
}
