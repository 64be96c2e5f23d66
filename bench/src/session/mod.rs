//! The whole measurement: parts one after another, rounds interleaved within them, and a report at the end.

mod curves;
mod drain_alone;
mod events;
mod findings;
mod rounds;
mod servers;

use std::time::Duration;

use anyhow::{Result, bail};

use crate::{
    cli::WholeArgs,
    load::Person,
    loader::say,
    report,
    scenario::{Shop, Size},
    stand::{Stand, proc::Machine},
    strategies::{Ground, Kind, judge},
};

pub(crate) use curves::CurvePoint;
pub(crate) use events::{Confirmations, Streams};
pub(crate) use findings::{Findings, median, ratio};

const PARTS: [&str; 6] = ["rounds", "curves", "drain", "strategies", "confirm", "streams"];
const HOUR: Duration = Duration::from_hours(1);

/// Measures and reports.
pub(crate) async fn whole(args: &WholeArgs) -> Result<()> {
    if let Some(unknown) = args.only.iter().find(|part| !PARTS.contains(&part.as_str())) {
        bail!("there is no part {unknown}; there are {}", PARTS.join(", "));
    }
    tokio::select! {
        measured = measure(args) => measured,
        // Dropping the parts ends every process that they started; databases are left for `scripts/stores` to throw away.
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
    }
}

async fn measure(args: &WholeArgs) -> Result<()> {
    let wanted = |part: &str| args.only.is_empty() || args.only.iter().any(|only| only == part);
    let size = Size {
        attempts: args
            .attempts
            .map_or(if args.quick { 40_000 } else { 60_000 }, u64::from),
        time: Duration::from_secs_f64(if args.quick { 1.0 } else { 2.0 }),
    };
    let rounds = args.rounds.unwrap_or(if args.quick { 3 } else { 5 });
    let mut findings = Findings::new(Machine::read()?, args.quick, rounds);
    let measured = parts(args, &wanted, size, rounds, &mut findings).await;
    // What was measured before a trouble is worth reading, too.
    report::write(&findings, &args.out)?;
    say(&format!("the report is {}", args.out.join("report.md").display()));
    measured
}

async fn parts(
    args: &WholeArgs,
    wanted: &impl Fn(&str) -> bool,
    size: Size,
    rounds: usize,
    findings: &mut Findings,
) -> Result<()> {
    if ["rounds", "curves", "drain", "confirm", "streams"]
        .iter()
        .any(|part| wanted(part))
    {
        shop(args, wanted, size, rounds, findings).await?;
    }
    if wanted("strategies") {
        let ground = Ground::open(&Kind::ALL, args.quick).await?;
        for kind in Kind::ALL {
            let row = judge(kind, &ground, args.quick).await?;
            say(&format!("{row:?}"));
            findings.strategies.push(row);
        }
        ground.close().await;
    }
    Ok(())
}

/// Everything that needs our server.
async fn shop(
    args: &WholeArgs,
    wanted: &impl Fn(&str) -> bool,
    size: Size,
    rounds: usize,
    findings: &mut Findings,
) -> Result<()> {
    let stand = Stand::open(&args.server, &args.site, &args.out).await?;
    let people: std::sync::Arc<[Person]> = stand.people(u32::try_from(size.attempts)?.max(20_000)).await?;
    let unopened = stand.sale_from(1, HOUR).await?;
    let server = stand.serve("all", &[]).await?;
    let shop = Shop {
        stand: &stand,
        server: &server,
        people: people.clone(),
        unopened,
    };
    if wanted("rounds") {
        rounds::run(&shop, size, rounds, findings).await?;
    }
    if wanted("curves") || wanted("confirm") {
        let full = match findings.crowd_median("W all win", |reading| reading.accept_rate) {
            Some(rate) => rate,
            None => shop.run(crate::scenario::Crowd::AllWin, size).await?.accept_rate,
        };
        if wanted("curves") {
            findings.curves = curves::run(&shop, full, args.quick).await?;
        }
        if wanted("confirm") {
            findings.confirmations = Some(events::confirmations(&shop, full * 0.3, args.quick).await?);
        }
    }
    if wanted("streams") {
        findings.streams = Some(events::streams(&shop).await?);
    }
    server.stop().await?;
    if wanted("drain") {
        findings.drain_alone =
            drain_alone::measure(&stand, people, unopened, size, if args.quick { 1 } else { 3 }).await?;
    }
    stand.close().await;
    Ok(())
}
