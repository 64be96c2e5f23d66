//! The page for people.

use std::fmt::Write;

use super::{chart::short, plots::Plot, targets};
use crate::{
    drain::Drain,
    session::{Findings, median},
};

/// The whole page.
pub(super) fn page(findings: &Findings, plots: &[Plot]) -> String {
    let machine = &findings.machine;
    let mut page = format!(
        "# Measured\n\n{} × {}, {} GiB, Linux {}; load average before the start {}. {} interleaved rounds{}; medians. The \
         generator, the server, Redis and PostgreSQL share these cores. Redis runs with `appendfsync always`, PostgreSQL with \
         synchronous commits.\n",
        machine.cores,
        machine.cpu,
        machine.memory_gib,
        machine.kernel,
        machine.load_before,
        findings.rounds,
        if findings.quick { " (the short run)" } else { "" },
    );
    page += &goals(findings);
    page += &crowds(findings);
    page += &ceilings(findings);
    page += &curves(findings);
    page += &strategies(findings);
    if !plots.is_empty() {
        page += "\n## Plots\n\n";
        for plot in plots {
            let _ = writeln!(page, "![{}]({})\n", plot.title, plot.file);
        }
    }
    page
}

fn goals(findings: &Findings) -> String {
    let goals = targets::all(findings);
    if goals.is_empty() {
        return String::new();
    }
    let mut text = "\n## Targets\n\nRatios are medians of the rounds' own ratios.\n\n| | wanted | found | |\n|---|---|---|---|\n".to_owned();
    for goal in goals {
        let mark = if goal.met { "met" } else { "**missed**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {mark} |",
            goal.what, goal.wanted, goal.found
        );
    }
    text
}

fn crowds(findings: &Findings) -> String {
    if findings.crowds.is_empty() {
        return String::new();
    }
    let mut text = "\n## Crowds, over REST\n\nClosed loop, 256 connections. Processor time is a thousand answers' worth of the process, in \
         milliseconds.\n\n| | answers/s | accepted/s | p50 ms | p99 | p99.9 | server ms | Redis ms | generator ms | MiB | \
         settled/s overall | settled/s afterwards | in trouble |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (name, readings) in &findings.crowds {
        let of = |value: &dyn Fn(&crate::scenario::Reading) -> f64| {
            median(&readings.iter().map(value).collect::<Vec<_>>()).unwrap_or_default()
        };
        let drains = |value: &dyn Fn(&Drain) -> Option<f64>| {
            let drains = readings
                .iter()
                .filter_map(|reading| value(reading.drain.as_ref()?));
            median(&drains.collect::<Vec<_>>()).map_or_else(|| "–".into(), short)
        };
        let troubles: Vec<&str> = readings
            .iter()
            .flat_map(|reading| {
                reading
                    .broken
                    .iter()
                    .map(String::as_str)
                    .chain([reading.troubles.as_str()])
            })
            .filter(|text| !text.is_empty())
            .collect();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:.0} | {} | {} | {} |",
            short(of(&|reading| reading.rate)),
            short(of(&|reading| reading.accept_rate)),
            of(&|reading| reading.latency.p50),
            of(&|reading| reading.latency.p99),
            of(&|reading| reading.latency.p999),
            of(&|reading| reading.cpu_a_thousand * 1000.0),
            of(&|reading| reading.redis_cpu_a_thousand * 1000.0),
            of(&|reading| reading.own_cpu_a_thousand * 1000.0),
            of(&|reading| reading.resident_mib),
            drains(&|drain| Some(drain.rate_overall)),
            drains(&|drain| drain.rate_after),
            if troubles.is_empty() {
                "none".to_owned()
            } else {
                troubles.join("; ")
            },
        );
    }
    if let Some(alone) = median(&findings.drain_alone) {
        let _ = writeln!(
            text,
            "\nThe consumer with nothing else on the machine: {} orders/s.",
            short(alone)
        );
    }
    if let Some(heard) = &findings.confirmations {
        let _ = writeln!(
            text,
            "\nAccepted to confirmed over server-sent events, beside {} grabs/s: p50 {:.1}, p99 {:.1}, longest {:.1} ms ({} \
             listeners).",
            short(heard.per_second),
            heard.latency.p50,
            heard.latency.p99,
            heard.latency.max,
            heard.heard
        );
    }
    if let Some(streams) = &findings.streams {
        let _ = writeln!(
            text,
            "\n{} event streams: {:.1} KiB resident each; a change of stock reaches them within p50 {:.0}, p99 {:.0}, longest \
             {:.0} ms, for {:.0} ms of processor.",
            streams.open,
            streams.kib_each,
            streams.change.p50,
            streams.change.p99,
            streams.change.max,
            streams.cpu_ms_a_change
        );
    }
    text
}

fn ceilings(findings: &Findings) -> String {
    if findings.ceilings.is_empty() {
        return String::new();
    }
    let mut text = "\n## Ceilings\n\n| | a second | least | most |\n|---|---|---|---|\n".to_owned();
    for (name, rates) in &findings.ceilings {
        let least = rates.iter().copied().fold(f64::MAX, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        let middle = median(rates).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} |",
            short(middle),
            short(least),
            short(most)
        );
    }
    text
}

fn curves(findings: &Findings) -> String {
    if findings.curves.is_empty() {
        return String::new();
    }
    let mut text = "\n## Latency at constant rates, all win\n\nFrom the moment at which an attempt was due.\n\n| attempts/s | share of the \
         closed loop | p50 ms | p99 | p99.9 | longest | in trouble |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for point in &findings.curves {
        let latency = point.latency;
        let _ = writeln!(
            text,
            "| {} | {:.0} % | {:.2} | {:.2} | {:.2} | {:.2} | {} |",
            short(point.per_second),
            point.share * 100.0,
            latency.p50,
            latency.p99,
            latency.p999,
            latency.max,
            if point.troubles.is_empty() {
                "none"
            } else {
                &point.troubles
            }
        );
    }
    text
}

fn strategies(findings: &Findings) -> String {
    if findings.strategies.is_empty() {
        return String::new();
    }
    let mut text = "\n## Strategies\n\nThe same crowd in one process, without HTTP: twice as many shoppers as units, three clicks each at once. \
         Speed from a calm run; faults from the worse of the calm run and one with pauses between check and write; \"lost\" are \
         orders that shoppers were promised before a kill -9 and that no recovery finds.\n\n| | answers/s | accepted/s | \
         written/s | p99 ms | oversold | duplicate | undersold | lost |\n|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let fault = |n: usize| {
        if n == 0 {
            "0".to_owned()
        } else {
            format!("**{n}**")
        }
    };
    for row in &findings.strategies {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} | {} | {} | {} | {} |",
            row.name,
            short(row.answered),
            short(row.accepted),
            short(row.settled),
            row.p99,
            fault(row.oversold),
            fault(row.duplicate),
            fault(row.undersold),
            fault(row.lost)
        );
    }
    text
}
