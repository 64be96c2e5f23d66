//! Rules of the source tree that the compiler doesn't know: who may import whom, and how long a file may be.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use walkdir::{DirEntry, WalkDir};

mod docs;
mod imports;
mod manifests;
mod rules;
mod sizes;

/// One broken rule.
#[derive(Debug)]
struct Finding {
    place: String,
    what: String,
    remedy: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.what, self.remedy)
    }
}

/// A file that the rules look at; the path is relative to the root, with `/` between its parts.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        Path::new(&self.path)
            .extension()
            .is_some_and(|extension| extension == "rs")
    }

    /// The text without the test module at its end.
    fn without_tests(&self) -> &str {
        match self.text.find("\n#[cfg(test)]\nmod ") {
            Some(end) => &self.text[..=end],
            None => &self.text,
        }
    }
}

/// Checks the tree and prints what is wrong.
pub(crate) fn check(root: &Path) -> Result<()> {
    let findings = findings(root)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} broken rules of the source tree", findings.len());
    }
    Ok(())
}

fn findings(root: &Path) -> Result<Vec<Finding>> {
    let sources = sources(root)?;
    let mut findings = manifests::check(root)?;
    findings.extend(imports::check(&sources)?);
    findings.extend(sizes::check(&sources));
    findings.extend(docs::check(root)?);
    Ok(findings)
}

fn sources(root: &Path) -> Result<Vec<Source>> {
    let ours = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !(name.starts_with('.') || name == "target" || name == "node_modules")
    };
    let mut sources = Vec::new();
    for entry in WalkDir::new(root)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(ours)
    {
        let entry = entry?;
        let checked = entry
            .path()
            .extension()
            .is_some_and(|found| ["rs", "ts", "css", "lua"].iter().any(|e| found == *e));
        if entry.file_type().is_file() && checked {
            let path = entry
                .path()
                .strip_prefix(root)?
                .to_string_lossy()
                .replace('\\', "/");
            let text = fs::read_to_string(entry.path()).with_context(|| format!("can't read {path}"))?;
            sources.push(Source { path, text });
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `check` says about a tree of these files.
    fn said(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        findings(root.path())
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_good_tree_passes() {
        let said = said(&[
            (
                "engine/Cargo.toml",
                "[package]\nname = 'engine'\n[dependencies]\ndomain.workspace = true\nsqlx = '0.9'",
            ),
            (
                "engine/src/ledger/order.rs",
                "use domain::OrderId;\nfn f() { sqlx::query!(\"-- kv\"); }",
            ),
            ("engine/src/kv.rs", "//! Unlike the ledger.\nuse redis::Script;"),
            ("server/src/main.rs", "use engine::Engine;\nuse axum::Router;"),
            ("target/debug/build/out.rs", "use leptos::view;"),
            ("end2end/node_modules/x/y.ts", &"\n".repeat(1000)),
        ]);
        assert_eq!(said, Vec::<String>::new());
    }

    #[test]
    fn every_rule_speaks() {
        let said = said(&[
            (
                "frontend/Cargo.toml",
                "[package]\nname = 'frontend'\n[dependencies]\nengine = { path = '../engine' }",
            ),
            ("engine/src/settle.rs", "\nfn f(e: sqlx::Error) {}"),
            ("engine/src/kv/mod.rs", "use crate::ledger;"),
            ("style/main.css", &"a {}\n".repeat(401)),
        ]);
        assert_eq!(said.len(), 4, "{said:#?}");
        assert!(
            said[0].starts_with("frontend/Cargo.toml: frontend depends on engine: "),
            "{said:#?}"
        );
        assert!(
            said[1].starts_with("engine/src/kv/mod.rs:1: mentions ledger: "),
            "{said:#?}"
        );
        assert!(
            said[2].starts_with("engine/src/settle.rs:2: mentions sqlx: "),
            "{said:#?}"
        );
        assert!(
            said[3].starts_with("style/main.css: has 401 lines: "),
            "{said:#?}"
        );
    }
}
