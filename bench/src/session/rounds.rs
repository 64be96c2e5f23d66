//! Crowds and ceilings in interleaved rounds: whatever else the machine does hits all of them alike.

use std::time::Duration;

use anyhow::Result;

use super::{Findings, servers};
use crate::{
    ceilings,
    loader::say,
    scenario::{Crowd, Reading, Shop, Size},
    stand::Fsync,
};

/// Settle batches of the ledger alone.
const BATCHES: [usize; 4] = [64, 512, 1024, 4096];

pub(super) async fn run(shop: &Shop<'_>, size: Size, rounds: usize, findings: &mut Findings) -> Result<()> {
    let routes = servers::start(shop.stand).await?;
    let users: Vec<i64> = shop.people.iter().map(|person| person.user).collect();
    let brief = Duration::from_millis(if findings.quick { 400 } else { 1000 });
    for round in 1..=rounds {
        let mut note = |name: String, rate: f64| {
            findings.ceilings.entry(name.clone()).or_default().push(rate);
            say(&format!("{round}/{rounds} {name}: {rate:.0}/s"));
        };
        for (ceiling, served) in &routes {
            let rate = servers::rate(*ceiling, served, &shop.people, size.time).await?;
            note(ceiling.name().to_owned(), rate);
        }
        let mut scripts = ceilings::a3_a4_script(brief).await?;
        scripts.extend(ceilings::a5_fsync(brief).await?);
        for script in scripts {
            note(script.name, script.rate);
        }
        for batch in BATCHES {
            let rate = ceilings::a6_ledger(shop.stand.database.pool(), &users, batch, brief).await?;
            note(format!("A6 ledger alone, batches of {batch}"), rate);
        }
        for crowd in Crowd::ALL {
            keep(crowd.name(), shop.run(crowd, size).await?, round, findings);
        }
        shop.stand.set_fsync(Fsync::EverySec).await?;
        keep(
            "W with everysec",
            shop.run(Crowd::AllWin, size).await?,
            round,
            findings,
        );
        shop.stand.set_fsync(Fsync::Always).await?;
    }
    Ok(())
}

fn keep(name: &str, reading: Reading, round: usize, findings: &mut Findings) {
    let drain = reading.drain.as_ref().map_or_else(String::new, |drain| {
        format!(
            "; {} left, gone in {:.2} s, {:.0}/s overall",
            drain.backlog, drain.seconds, drain.rate_overall
        )
    });
    say(&format!(
        "{round}/{} {name}: {:.0}/s, p50 {:.2} p99 {:.2} ms, server {:.1} µs each, {:.0} MiB{drain} {} {}",
        findings.rounds,
        reading.rate,
        reading.latency.p50,
        reading.latency.p99,
        reading.cpu_a_thousand * 1000.0,
        reading.resident_mib,
        reading.troubles,
        reading.broken.join(", "),
    ));
    findings.crowds.entry(name.to_owned()).or_default().push(reading);
}
