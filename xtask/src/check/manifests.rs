//! The arrows as the manifests draw them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Finding;
use super::rules::{ARROWS, STRANGERS};

const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Reads the manifest of each crate that there is.
pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, _) in ARROWS {
        let place = format!("{name}/Cargo.toml");
        let Ok(text) = fs::read_to_string(root.join(&place)) else {
            continue;
        };
        let manifest: Table = text.parse().with_context(|| format!("can't read {place}"))?;
        let broken = check_one(name, &manifest);
        findings.extend(broken.into_iter().map(|(what, remedy)| Finding {
            place: place.clone(),
            what,
            remedy,
        }));
    }
    Ok(findings)
}

fn check_one(name: &str, manifest: &Table) -> Vec<(String, &'static str)> {
    let mut broken = Vec::new();
    for (dependency, value) in dependencies(manifest) {
        // A crate may name itself: that is how its own tests get its features for tests.
        let inside = dependency != name && ARROWS.iter().any(|(other, _)| *other == dependency);
        let allowed = ARROWS
            .iter()
            .any(|(of, to)| *of == name && to.contains(&dependency));
        if inside && !allowed {
            broken.push((
                format!("{name} depends on {dependency}"),
                "imports go frontend → app → engine → domain, and server and bench above: turn it round",
            ));
        }
        for (of, strangers, remedy) in STRANGERS {
            // A family counts as its head: axum-extra, leptos_router, tower-http.
            let family = dependency.split(['-', '_']).next().unwrap_or(dependency);
            if of == name && strangers.contains(&family) {
                broken.push((format!("{name} depends on {dependency}"), remedy));
            }
        }
        let optional = value.get("optional").and_then(Value::as_bool).unwrap_or(false);
        if name == "app" && dependency == "engine" && !optional {
            broken.push((
                "app always depends on engine".to_owned(),
                "the browser must not get it: make it optional, in feature ssr",
            ));
        }
    }
    if name == "app" {
        broken.extend(features_with_engine(manifest));
    }
    broken
}

/// Every dependency of every kind, by the name of its package.
fn dependencies(manifest: &Table) -> Vec<(&str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let places = targets
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table)
        .chain([manifest]);
    let tables = places.flat_map(|place| KINDS.iter().filter_map(|kind| place.get(*kind)?.as_table()));
    tables
        .flat_map(|table| table.iter())
        .map(|(key, value)| (value.get("package").and_then(Value::as_str).unwrap_or(key), value))
        .collect()
}

fn features_with_engine(manifest: &Table) -> Vec<(String, &'static str)> {
    let Some(features) = manifest.get("features").and_then(Value::as_table) else {
        return Vec::new();
    };
    let reaches = |feature: &str| {
        ["dep:engine", "engine"].contains(&feature) || feature.starts_with("engine/") || feature == "ssr"
    };
    let has = |parts: &Value| {
        parts
            .as_array()
            .is_some_and(|parts| parts.iter().filter_map(Value::as_str).any(reaches))
    };
    let others = features
        .iter()
        .filter(|(feature, parts)| *feature != "ssr" && has(parts));
    others
        .map(|(feature, _)| {
            (
                format!("feature {feature} reaches engine"),
                "only the feature ssr may: take it out",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, manifest: &str) -> Vec<String> {
        check_one(name, &manifest.parse().unwrap())
            .into_iter()
            .map(|(what, _)| what)
            .collect()
    }

    #[test]
    fn allowed_arrows_pass() {
        assert!(
            said(
                "server",
                "[dependencies]\napp = {}\nengine = {}\ndomain = {}\naxum = '0.8'"
            )
            .is_empty()
        );
        let app = "[features]\nssr = ['dep:engine', 'leptos/ssr']\nhydrate = ['leptos/hydrate']\n\
                   [dependencies]\nengine = { workspace = true, optional = true }";
        assert!(said("app", app).is_empty());
        assert!(
            said(
                "engine",
                "[dev-dependencies]\nengine = { path = '.', features = ['testing'] }"
            )
            .is_empty()
        );
    }

    #[test]
    fn arrows_backwards_are_found_in_every_kind_of_dependency() {
        assert_eq!(
            said("domain", "[dependencies]\nengine.workspace = true"),
            ["domain depends on engine"]
        );
        assert_eq!(
            said("engine", "[dev-dependencies]\nserver = {}"),
            ["engine depends on server"]
        );
        assert_eq!(
            said(
                "bench",
                "[target.'cfg(unix)'.dependencies]\nx = { package = 'app' }"
            ),
            ["bench depends on app"]
        );
    }

    #[test]
    fn engine_has_no_http_and_no_html() {
        let said = said(
            "engine",
            "[dependencies]\naxum-extra = '1'\nleptos_meta = '1'\nhttp = '1'\ntokio = '1'",
        );
        assert_eq!(said.len(), 3, "{said:?}");
    }

    #[test]
    fn only_ssr_reaches_engine() {
        assert_eq!(
            said("app", "[dependencies]\nengine = {}"),
            ["app always depends on engine"]
        );
        let app = "[features]\nssr = ['dep:engine']\nhydrate = ['dep:engine']\ndefault = ['ssr']\n\
                   [dependencies]\nengine = { optional = true }";
        assert_eq!(
            said("app", app),
            ["feature default reaches engine", "feature hydrate reaches engine"]
        );
    }
}
