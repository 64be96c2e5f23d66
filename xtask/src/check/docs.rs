//! The map must show the country: every path that the documents name exists, and the architecture page stays short.

use std::path::Path;

use anyhow::Result;

use super::Finding;

/// Documents whose paths are checked.
const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "docs/runbook.md"];
/// Where code spans may name paths that are ours.
const OURS: [&str; 15] = [
    "app/",
    "bench/",
    "deploy/",
    "docs/",
    "domain/",
    "end2end/",
    "engine/",
    "frontend/",
    "lua/",
    "migrations/",
    "scripts/",
    "server/",
    "style/",
    "xtask/",
    ".ci/",
];
/// Words that the architecture page may have.
const MOST_WORDS: usize = 2000;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for document in DOCUMENTS {
        let file = root.join(document);
        if !file.exists() {
            continue;
        }
        let text = std::fs::read_to_string(file)?;
        for path in paths(&text) {
            if !root.join(path).exists() {
                findings.push(Finding {
                    place: document.to_owned(),
                    what: format!("names {path}, which does not exist"),
                    remedy: "name what is there",
                });
            }
        }
        let words = text.split_whitespace().count();
        if document == "ARCHITECTURE.md" && words > MOST_WORDS {
            findings.push(Finding {
                place: document.to_owned(),
                what: format!("has {words} words: {MOST_WORDS} are allowed"),
                remedy: "say it shorter, or move it to docs/adr",
            });
        }
    }
    Ok(findings)
}

/// Paths in code spans, where they begin with a folder of ours, and in links.
fn paths(text: &str) -> Vec<&str> {
    let spans = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| OURS.iter().any(|ours| span.starts_with(ours)));
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let links = links.filter(|link| !link.contains("://") && !link.starts_with('#'));
    spans
        .chain(links)
        .filter(|path| !path.contains([' ', '*', '\n', '{', '<']))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_code_and_links_are_found_and_commands_are_not() {
        let text = "see `engine/src/lib.rs`, [x](lua/grab.lua), `make run`, `server serve`, [y](https://a/b), `lua/*.lua`";
        assert_eq!(paths(text), ["engine/src/lib.rs", "lua/grab.lua"]);
    }

    #[test]
    fn a_path_that_is_gone_and_a_page_that_is_long_are_told() {
        let root = tempfile::tempdir().unwrap();
        let long = "word ".repeat(MOST_WORDS + 1);
        std::fs::write(
            root.path().join("ARCHITECTURE.md"),
            format!("`engine/gone.rs` {long}"),
        )
        .unwrap();
        let findings = check(root.path()).unwrap();
        assert_eq!(findings.len(), 2, "{findings:?}");
    }
}
