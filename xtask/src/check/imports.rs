//! The arrows as the code draws them.

use std::collections::BTreeSet;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::rules::{ARROWS, PLACES, STRANGERS};
use super::{Finding, Source};

/// A word of the code: its line, and whether a path begins with it, as the name of a crate does.
struct Word {
    text: String,
    line: usize,
    begins_path: bool,
}

/// Looks at the code under each crate's `src`. Tests may reach round the layers: they check what is really stored.
pub(super) fn check(sources: &[Source]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let Some((name, _)) = source.path.split_once("/src/") else {
            continue;
        };
        if source.path.ends_with("/tests.rs") || source.path.contains("/tests/") {
            continue;
        }
        let code: TokenStream = source
            .without_tests()
            .parse()
            .map_err(|error| anyhow!("{}: not Rust: {error}", source.path))?;
        let mut words = Vec::new();
        collect(code, false, &mut words);
        let mut said = BTreeSet::new();
        for word in &words {
            if let Some(remedy) = remedy(name, &source.path, word)
                && said.insert((word.line, &word.text))
            {
                let place = format!("{}:{}", source.path, word.line);
                findings.push(Finding {
                    place,
                    what: format!("mentions {}", word.text),
                    remedy,
                });
            }
        }
    }
    Ok(findings)
}

fn remedy(name: &str, path: &str, word: &Word) -> Option<&'static str> {
    let text = word.text.as_str();
    let place = PLACES.iter().find(|place| {
        let stranger = !["sqlx", "redis"].contains(&place.word) || word.begins_path;
        place.word == text
            && stranger
            && path.starts_with(place.within)
            && !place.except.iter().any(|except| path.starts_with(except))
    });
    if let Some(place) = place {
        return Some(place.remedy);
    }
    if !word.begins_path {
        return None;
    }
    let family = text.split('_').next().unwrap_or(text);
    if let Some((.., remedy)) = STRANGERS
        .iter()
        .find(|(of, strangers, _)| *of == name && strangers.contains(&family))
    {
        return Some(remedy);
    }
    let inside = text != name && ARROWS.iter().any(|(other, _)| *other == text);
    let allowed = ARROWS.iter().any(|(of, to)| *of == name && to.contains(&text));
    (inside && !allowed).then_some("this import is not among the arrows of the layout: turn it round")
}

/// Flattens the code into its words; comments and string literals are not among them.
fn collect(code: TokenStream, in_use_root: bool, words: &mut Vec<Word>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    // Whether the next word is the root of a `use` tree.
    let mut use_root = in_use_root;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                let follows_path =
                    is_path_separator(&tokens, at.wrapping_sub(2)) && at >= 3 && is_segment(&tokens[at - 3]);
                let leads_path = is_path_separator(&tokens, at + 1);
                let begins_path =
                    use_root || (leads_path && !follows_path && !is_punct(&tokens, at.wrapping_sub(1), '.'));
                use_root = text == "use" || text == "crate" && at > 0 && is_word(&tokens[at - 1], "extern");
                words.push(Word {
                    text,
                    line: ident.span().start().line,
                    begins_path,
                });
            }
            TokenTree::Group(group) => {
                collect(
                    group.stream(),
                    use_root && group.delimiter() == Delimiter::Brace,
                    words,
                );
                use_root = false;
            }
            TokenTree::Punct(punct) => use_root |= in_use_root && punct.as_char() == ',',
            TokenTree::Literal(_) => {}
        }
    }
}

fn is_punct(tokens: &[TokenTree], at: usize, sign: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens, at, ':') && is_punct(tokens, at.wrapping_add(1), ':')
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

fn is_segment(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(_)) || matches!(token, TokenTree::Punct(punct) if punct.as_char() == '>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, text: &str) -> Vec<String> {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        check(&[source])
            .unwrap()
            .iter()
            .map(|f| format!("{}: {}", f.place, f.what))
            .collect()
    }

    #[test]
    fn every_way_to_name_a_crate_is_seen() {
        for text in [
            "use axum::Router;",
            "use ::axum::Router;",
            "use axum as web;",
            "use {std::fmt, axum::Router};",
            "pub use axum;",
            "extern crate axum;",
            "fn f() -> axum::Router { todo() }",
            "fn f() { let x = vec![::axum::x()]; }",
            "use axum_extra::extract;",
        ] {
            assert_eq!(said("engine/src/a.rs", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_uses_of_the_word_are_not() {
        for text in [
            "// axum::Router\nfn f() { g(\"axum::Router\") }",
            "/// like axum::Router\nfn axum() {}",
            "use crate::axum::Router;",
            "fn f(axum: u8) { self.axum.x() }",
            "#[cfg(test)]\nmod tests { use axum::Router; }",
        ] {
            assert!(said("engine/src/a.rs", &format!("\n{text}")).is_empty(), "{text}");
        }
        assert!(said("engine/tests/all/main.rs", "use sqlx::query;").is_empty());
    }

    #[test]
    fn arrows_backwards_are_found() {
        assert_eq!(
            said("domain/src/lib.rs", "\nuse engine::Engine;"),
            ["domain/src/lib.rs:2: mentions engine"]
        );
        assert_eq!(said("frontend/src/lib.rs", "use engine::x;").len(), 1);
        assert_eq!(said("bench/src/main.rs", "fn f() { server::serve() }").len(), 1);
        assert!(said("app/src/lib.rs", "use engine::Engine;").is_empty());
        assert!(said("server/src/lib.rs", "use server::x;").is_empty());
    }

    #[test]
    fn sql_and_redis_stay_in_their_places() {
        assert_eq!(said("engine/src/grab.rs", "use sqlx::PgPool;").len(), 1);
        assert_eq!(said("engine/src/grab.rs", "use redis::cmd;").len(), 1);
        assert_eq!(said("engine/src/ledger/a.rs", "use redis::cmd;").len(), 1);
        assert_eq!(said("server/src/a.rs", "use sqlx::PgPool;").len(), 1);
        assert!(said("engine/src/ledger/a.rs", "use sqlx::PgPool;").is_empty());
        assert!(said("engine/src/kv/a.rs", "use redis::cmd;").is_empty());
        assert!(said("engine/src/grab.rs", "fn f(c: &Config) { c.redis.url() }").is_empty());
    }

    #[test]
    fn ledger_and_kv_do_not_know_each_other() {
        assert_eq!(
            said("engine/src/ledger/a.rs", "use crate::{domain, kv};").len(),
            1
        );
        assert_eq!(
            said("engine/src/kv/a.rs", "fn f(x: super::ledger::Row) {}").len(),
            1
        );
        assert!(said("engine/src/settle.rs", "use crate::{kv, ledger};").is_empty());
    }
}
