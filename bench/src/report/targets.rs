//! The targets of the issue, each with what was found.

use crate::{
    scenario::Reading,
    session::{Findings, median, ratio},
};

/// A target.
pub(super) struct Target {
    pub(super) what: &'static str,
    pub(super) wanted: String,
    pub(super) found: String,
    pub(super) met: bool,
}

/// All targets of which something was measured.
pub(super) fn all(findings: &Findings) -> Vec<Target> {
    let mut targets = Vec::new();
    let a2 = findings
        .ceilings
        .get("A2 session and JSON, no Redis")
        .cloned()
        .unwrap_or_default();
    let rate = |name: &str| findings.crowd_rounds(name, |reading| reading.rate);
    let share = |what, name: &str, least: f64| Some(at_least(what, ratio(&rate(name), &a2)?, least));
    targets.extend(share("W ÷ A2", "W all win", 0.6));
    targets.extend(share("X ÷ A2", "X sold out", 0.9));
    targets.extend(share("M ÷ A2", "M mixed, 1 %", 0.75));
    let versus =
        |what, above: Vec<f64>, below: Vec<f64>, least| Some(at_least(what, ratio(&above, &below)?, least));
    targets.extend(versus("D ÷ X", rate("D duplicates"), rate("X sold out"), 1.0));
    targets.extend(versus(
        "W by server function ÷ one with nothing to do",
        rate("W by server function"),
        rate("X by server function"),
        0.6,
    ));
    // Where the ledger kept up there is no drain to measure: it was as fast as the crowd.
    let drained = |reading: &Reading| {
        let after = reading.drain.as_ref().and_then(|drain| drain.rate_after);
        after.unwrap_or(reading.accept_rate)
    };
    targets.extend(versus(
        "W: settled a second once the crowd has gone ÷ accepted a second",
        findings.crowd_rounds("W all win", drained),
        rate("W all win"),
        0.5,
    ));
    let a6 = findings.ceiling("A6 ledger alone, batches of 512");
    if let (Some(alone), Some(a6)) = (median(&findings.drain_alone), a6) {
        targets.push(at_least("the consumer alone ÷ A6", alone / a6, 0.5));
    }
    targets.extend(versus(
        "W with always ÷ with everysec",
        rate("W all win"),
        rate("W with everysec"),
        0.85,
    ));
    let strategy = |name: &str| findings.strategies.iter().find(|row| row.name.starts_with(name));
    if let (Some(ours), Some(classic)) = (strategy("ours"), strategy("Lua + Stream")) {
        targets.push(at_least(
            "ours ÷ one by one, accepted",
            ours.accepted / classic.accepted,
            5.0,
        ));
        targets.push(at_least(
            "ours ÷ one by one, settled",
            ours.settled / classic.settled,
            20.0,
        ));
    }
    if let Some(heard) = &findings.confirmations {
        let rate = format!(" beside {:.0}/s", heard.per_second);
        targets.push(at_most(
            "accepted to confirmed, p50, ms",
            heard.latency.p50,
            15.0,
            &rate,
        ));
        targets.push(at_most(
            "accepted to confirmed, p99, ms",
            heard.latency.p99,
            60.0,
            &rate,
        ));
    }
    if let Some(streams) = &findings.streams {
        let n = format!(" of {} streams", streams.open);
        targets.push(at_most("KiB a stream", streams.kib_each, 12.0, &n));
        targets.push(at_most(
            "a change at all streams, ms",
            streams.change.max,
            300.0,
            &n,
        ));
    }
    let broken = findings
        .crowds
        .values()
        .flatten()
        .filter(|reading| !reading.broken.is_empty())
        .count();
    if !findings.crowds.is_empty() {
        targets.push(Target {
            what: "rounds with a broken invariant",
            wanted: "0".into(),
            found: broken.to_string(),
            met: broken == 0,
        });
    }
    targets
}

fn at_least(what: &'static str, found: f64, least: f64) -> Target {
    Target {
        what,
        wanted: format!("≥ {least}"),
        found: format!("{found:.2}"),
        met: found >= least,
    }
}

fn at_most(what: &'static str, found: f64, most: f64, with: &str) -> Target {
    Target {
        what,
        wanted: format!("≤ {most}"),
        found: format!("{found:.1}{with}"),
        met: found <= most,
    }
}
