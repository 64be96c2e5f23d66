//! The table of a run, for people: on the terminal as it goes, and as a page at the end.

use std::{fmt::Write, time::Duration};

use crate::{check::Verdict, scenarios::Scenario};

/// How a scenario went.
#[derive(Debug, Clone)]
pub(crate) enum Ending {
    /// It was played and judged.
    Judged(Verdict),
    /// It could not be played to its end.
    Failed(String),
}

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// What was played.
    pub(crate) scenario: &'static Scenario,
    /// With which seed.
    pub(crate) seed: u64,
    /// How it went.
    pub(crate) ending: Ending,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Row {
    /// Whether it went as it should: all held, or what was sabotaged was caught by the invariant that it breaks.
    pub(crate) fn is_good(&self) -> bool {
        match (&self.ending, self.scenario.caught_by) {
            (Ending::Failed(_), _) => false,
            (Ending::Judged(verdict), []) => verdict.is_sound(),
            (Ending::Judged(verdict), caught_by) => caught_by
                .iter()
                .all(|name| verdict.broken.get(name).is_some_and(|wrong| !wrong.is_empty())),
        }
    }

    fn word(&self) -> &'static str {
        match (self.is_good(), self.scenario.caught_by.is_empty()) {
            (true, true) => "held",
            (true, false) => "caught",
            (false, true) => "BROKEN",
            (false, false) => "NOT CAUGHT",
        }
    }

    /// One line for the terminal.
    pub(crate) fn line(&self) -> String {
        let id = self.scenario.id;
        let mut line = format!(
            "{id:<18} {:<10} {:>5.1} s  ",
            self.word(),
            self.took.as_secs_f64()
        );
        match &self.ending {
            Ending::Failed(why) => line += why,
            Ending::Judged(v) => {
                let _ = write!(
                    line,
                    "accepted {}, settled {}, failed {}, unknown {}",
                    v.accepted, v.settled, v.failed, v.unknown
                );
            }
        }
        line
    }

    /// What is wrong, a line each.
    pub(crate) fn troubles(&self) -> Vec<String> {
        match &self.ending {
            Ending::Failed(why) => vec![why.clone()],
            Ending::Judged(verdict) => {
                let broken = verdict
                    .broken
                    .iter()
                    .flat_map(|(name, wrong)| wrong.iter().map(move |what| format!("{name}: {what}")));
                let also = verdict.also.iter().filter(|(_, holds)| !holds);
                broken
                    .chain(also.map(|(what, _)| format!("not so: {what}")))
                    .collect()
            }
        }
    }
}

/// The page.
pub(crate) fn page(rows: &[Row], seed: u64, elsewhere: &[(&str, &str)]) -> String {
    let good = rows.iter().filter(|row| row.is_good()).count();
    let mut page = format!(
        "# Faults\n\nSeed {seed}: {good} of {} went as they should.\n\n\
         ✓ held · ✗ broken · a sabotaged build is good when its invariant is broken. Attempts whose outcome the client \
         did not know are \"unknown\"; each was asked again until it was known.\n\n\
         | fault | | seed | what was done | accepted | settled | failed | unknown |",
        rows.len()
    );
    let names: Vec<&str> = crate::check::INVARIANTS.iter().map(|(name, _)| *name).collect();
    for name in &names {
        let _ = write!(page, " {name} |");
    }
    let _ = write!(page, "\n|{}\n", "---|".repeat(8 + names.len()));
    for row in rows {
        let Scenario { id, about, .. } = row.scenario;
        let _ = write!(page, "| {id} | {} | {} | {about}", row.word(), row.seed);
        match &row.ending {
            Ending::Failed(why) => {
                let _ = write!(page, ": {why} | | | | |{}", " ? |".repeat(names.len()));
            }
            Ending::Judged(v) => {
                let did = if v.did.is_empty() {
                    String::new()
                } else {
                    format!(": {}", v.did)
                };
                let _ = write!(
                    page,
                    "{did} | {} | {} | {} | {} |",
                    v.accepted, v.settled, v.failed, v.unknown
                );
                for name in &names {
                    let holds = v.broken.get(name).is_none_or(Vec::is_empty);
                    page += if holds { " ✓ |" } else { " ✗ |" };
                }
            }
        }
        page += "\n";
    }
    page += "\n## What was seen\n\n";
    for row in rows {
        let _ = writeln!(
            page,
            "- **{}** ({:.1} s)",
            row.scenario.id,
            row.took.as_secs_f64()
        );
        if let Ending::Judged(verdict) = &row.ending {
            let _ = writeln!(page, "  - {}", verdict.seen);
            for (what, holds) in &verdict.also {
                let _ = writeln!(page, "  - {}: {}", what, if *holds { "yes" } else { "NO" });
            }
        }
        for trouble in row.troubles() {
            let _ = writeln!(page, "  - {trouble}");
        }
    }
    page += "\n## Shown elsewhere\n\n| fault | by |\n|---|---|\n";
    for (fault, proof) in elsewhere {
        let _ = writeln!(page, "| {fault} | {proof} |");
    }
    page
}
