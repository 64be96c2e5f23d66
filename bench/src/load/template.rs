//! Text with holes: `{user}`, `{token}` and `{n}`, filled anew for each attempt.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::Person;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    User,
    Token,
    Number,
}

/// A parsed template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Template(Vec<Piece>);

impl Template {
    /// Parses `text`; names that `fixed` knows are filled now. A brace that opens no name stays as it is, so that JSON
    /// bodies need no escapes.
    pub(super) fn parse(text: &str, fixed: &BTreeMap<String, String>) -> Result<Self> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            plain.push_str(&rest[..at]);
            let inside = &rest[at + 1..];
            let name = inside.split('}').next().unwrap_or_default();
            let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            if !is_name || name.len() == inside.len() {
                plain.push('{');
                rest = inside;
                continue;
            }
            rest = &inside[name.len() + 1..];
            if let Some(value) = fixed.get(name) {
                plain.push_str(value);
                continue;
            }
            let piece = match name {
                "user" => Piece::User,
                "token" => Piece::Token,
                "n" => Piece::Number,
                other => bail!("the template names {{{other}}}: set it, or use {{user}}, {{token}}, {{n}}"),
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain).into_bytes()));
            }
            pieces.push(piece);
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into_bytes()));
        }
        Ok(Self(pieces))
    }

    /// Appends the filled template to `out`.
    pub(super) fn fill(&self, person: &Person, number: u64, out: &mut Vec<u8>) {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::User => digits(person.user.unsigned_abs(), out),
                Piece::Token => out.extend_from_slice(person.token.as_bytes()),
                Piece::Number => digits(number, out),
            }
        }
    }

    /// Whether every filling has the same length.
    pub(super) fn fixed_length(&self) -> Option<usize> {
        self.0.iter().try_fold(0, |sum, piece| match piece {
            Piece::Text(text) => Some(sum + text.len()),
            _ => None,
        })
    }

    /// Appends a template.
    pub(super) fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// Decimal digits without the formatting machinery.
pub(super) fn digits(mut value: u64, out: &mut Vec<u8>) {
    let mut text = [0; 20];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + u8::try_from(value % 10).unwrap_or(0);
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&text[at..]);
}

/// `key=value`, as given on the command line.
pub(super) fn pair(text: &str) -> Result<(String, String)> {
    let (key, value) = text
        .split_once('=')
        .with_context(|| format!("{text}: expected name=value"))?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let fixed = BTreeMap::from([("voucher".to_owned(), "10".to_owned())]);
        let person = Person {
            user: 7,
            token: "t".into(),
        };
        let mut out = Vec::new();
        Template::parse(text, &fixed)
            .unwrap()
            .fill(&person, 120, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn holes_are_filled_and_other_braces_stay() {
        assert_eq!(filled("/v/{voucher}/{user}?{token}&{n}"), "/v/10/7?t&120");
        assert_eq!(filled(r#"{"user":{user},"o":{}}"#), r#"{"user":7,"o":{}}"#);
        assert_eq!(filled("{"), "{");
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(Template::parse("{nobody}", &BTreeMap::new()).is_err());
    }
}
