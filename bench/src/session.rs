//! The whole measurement, in interleaved rounds.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use serde::Serialize;

use crate::{
    ceilings::{self, Ceiling},
    cli::WholeArgs,
    load::{Amount, Person, Plan, run},
    loader::say,
    scenario::{Crowd, Reading, Shop, Size},
    stand::{Served, Stand, free_address, our_target, proc::Machine},
};

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    /// Where.
    pub(crate) machine: Machine,
    /// Rates of each ceiling, a number a round.
    pub(crate) ceilings: BTreeMap<String, Vec<f64>>,
    /// Readings of each crowd, one a round.
    pub(crate) crowds: BTreeMap<&'static str, Vec<Reading>>,
}

/// Measures and reports.
pub(crate) async fn whole(args: &WholeArgs) -> Result<()> {
    let size = Size {
        attempts: args
            .attempts
            .map_or(if args.quick { 40_000 } else { 60_000 }, u64::from),
        time: Duration::from_secs_f64(if args.quick { 1.5 } else { 2.5 }),
    };
    let rounds = args.rounds.unwrap_or(if args.quick { 3 } else { 5 });
    let stand = Stand::open(&args.server, &args.site, &args.out).await?;
    let people = stand.people(u32::try_from(size.attempts)?.max(20_000)).await?;
    let server = stand.serve("all", &[]).await?;
    let unopened = stand.sale_from(1, Duration::from_secs(3600)).await?;
    let shop = Shop {
        stand: &stand,
        server: &server,
        people: people.clone(),
        unopened,
    };
    let ceiling_servers = start_ceilings(&stand).await?;
    let mut findings = Findings {
        machine: Machine::read()?,
        ceilings: BTreeMap::new(),
        crowds: BTreeMap::new(),
    };
    for round in 1..=rounds {
        for (ceiling, served) in &ceiling_servers {
            let rate = ceiling_rate(*ceiling, served, &people, size.time).await?;
            say(&format!("{round} {ceiling:?}: {rate:.0}/s"))?;
            findings
                .ceilings
                .entry(format!("{ceiling:?}"))
                .or_default()
                .push(rate);
        }
        for crowd in Crowd::ALL {
            let reading = shop.run(crowd, size).await?;
            say(&format!("{round} {}", shown(&reading)))?;
            findings.crowds.entry(reading.name).or_default().push(reading);
        }
    }
    for rate in ceilings::a3_a4_script(Duration::from_secs(1)).await? {
        say(&format!("{}: {:.0}/s", rate.name, rate.rate))?;
    }
    for rate in ceilings::a5_fsync(Duration::from_secs(1)).await? {
        say(&format!("{}: {:.0}/s", rate.name, rate.rate))?;
    }
    let users: Vec<i64> = people.iter().map(|person| person.user).collect();
    for batch in [512, 2048] {
        let rate = ceilings::a6_ledger(stand.database.pool(), &users, batch, Duration::from_secs(2)).await?;
        say(&format!("A6 {batch}: {rate:.0}/s"))?;
    }
    server.stop().await?;
    stand.close().await;
    Ok(())
}

async fn start_ceilings(stand: &Stand) -> Result<Vec<(Ceiling, Served)>> {
    let mut started = Vec::new();
    let program = std::env::current_exe()?;
    let (redis, database) = (stand.redis.url(), stand.database.url());
    let env = [
        ("SECKILL_REDIS_URL", redis.as_str()),
        ("SECKILL_DATABASE_URL", database.as_str()),
    ];
    for ceiling in [Ceiling::Canned, Ceiling::Empty, Ceiling::Session] {
        let address = free_address()?;
        let args = ["ceiling", ceiling.word(), "--listen", &address.to_string()];
        let log = stand.path(&format!("ceiling-{}.log", ceiling.word()));
        started.push((
            ceiling,
            Served::start(&program, &args, &env, address, "/healthz", &log).await?,
        ));
    }
    Ok(started)
}

async fn ceiling_rate(
    ceiling: Ceiling,
    served: &Served,
    people: &Arc<[Person]>,
    time: Duration,
) -> Result<f64> {
    let target = if ceiling == Ceiling::Empty {
        let text = format!(
            "url = 'http://{}/empty'\n[[accepted]]\nstatus = 202",
            served.address
        );
        Arc::new(crate::load::Target::parse(&text, &BTreeMap::new())?)
    } else {
        our_target(served.address, domain::VoucherId::new(10)?)?
    };
    let few: Arc<[Person]> = people[..people.len().min(10_000)].into();
    if ceiling == Ceiling::Session {
        run(Plan::closed(
            target.clone(),
            few.clone(),
            Amount::Attempts(few.len() as u64),
        ))
        .await?;
    }
    let outcome = run(Plan::closed(target, few, Amount::For(time))).await?;
    anyhow::ensure!(
        outcome.troubles().is_empty(),
        "{ceiling:?}: {}",
        outcome.troubles()
    );
    Ok(outcome.rate())
}

fn shown(reading: &Reading) -> String {
    let drain = reading.drain.as_ref().map_or_else(String::new, |drain| {
        format!(
            "; drain {} left, {:.2} s, {:.0}/s under load, {:.0}/s after, {:.0}/s overall",
            drain.backlog,
            drain.seconds,
            drain.rate_under_load,
            drain.rate_after.unwrap_or(0.0),
            drain.rate_overall
        )
    });
    format!(
        "{}: {:.0}/s, accepted {:.0}/s, p50 {:.2} p99 {:.2} p99.9 {:.2} ms, cpu/1000: server {:.4} redis {:.4} own {:.4}, \
         {:.0} MiB{drain} {} {:?}",
        reading.name,
        reading.rate,
        reading.accept_rate,
        reading.latency.p50,
        reading.latency.p99,
        reading.latency.p999,
        reading.cpu_a_thousand,
        reading.redis_cpu_a_thousand,
        reading.own_cpu_a_thousand,
        reading.resident_mib,
        reading.troubles,
        reading.broken,
    )
}
