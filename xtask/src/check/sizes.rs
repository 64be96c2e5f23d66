//! How long a file may be.

use super::{Finding, Source};

/// A file of more lines than this, its tests aside, does more than one thing.
const MOST_LINES: usize = 400;
/// Half of the Rust files must be no longer than this.
const MEDIAN_LINES: usize = 150;

/// Counts lines up to a file's test module.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let lines = |source: &Source| source.without_tests().lines().count();
    let mut findings: Vec<Finding> = sources
        .iter()
        .filter(|source| lines(source) > MOST_LINES)
        .map(|source| Finding {
            place: source.path.clone(),
            what: format!("has {} lines", lines(source)),
            remedy: "400 are allowed: split it by what its parts do",
        })
        .collect();
    let mut rust: Vec<usize> = sources
        .iter()
        .filter(|source| source.is_rust())
        .map(lines)
        .collect();
    rust.sort_unstable();
    if let Some(&median) = rust.get(rust.len() / 2)
        && median > MEDIAN_LINES
    {
        findings.push(Finding {
            place: "Rust files".to_owned(),
            what: format!("their median length is {median} lines"),
            remedy: "150 are allowed: split the longer ones",
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, lines: usize, tests: usize) -> Source {
        let tests = if tests > 0 {
            format!("\n#[cfg(test)]\nmod tests {{{}}}", "\n".repeat(tests))
        } else {
            String::new()
        };
        Source {
            path: path.to_owned(),
            text: "x\n".repeat(lines) + &tests,
        }
    }

    #[test]
    fn the_limit_is_exact_and_tests_do_not_count() {
        let short = || source("a.rs", 1, 0);
        let of = |long| check(&[short(), short(), long]).len();
        assert_eq!(of(source("b.rs", 400, 0)), 0);
        assert_eq!(of(source("b.rs", 399, 900)), 0);
        assert_eq!(of(source("b.rs", 401, 0)), 1);
        assert_eq!(of(source("b.lua", 401, 0)), 1);
    }

    #[test]
    fn the_median_of_the_rust_files_counts() {
        assert!(check(&[source("a.rs", 150, 0)]).is_empty());
        assert_eq!(
            check(&[
                source("a.rs", 151, 0),
                source("b.ts", 1, 0),
                source("c.css", 1, 0)
            ])
            .len(),
            1
        );
    }
}
