//! Which charts there are.

use super::chart::{Line, Scale, bars, lines};
use crate::session::Findings;

/// A chart and its file.
pub(super) struct Plot {
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    pub(super) svg: String,
}

impl Plot {
    fn new(file: &'static str, title: &'static str, draw: impl FnOnce(&str) -> String) -> Self {
        Self {
            file,
            title,
            svg: draw(title),
        }
    }
}

/// All charts for which there is something to show.
pub(super) fn all(findings: &Findings) -> Vec<Plot> {
    let mut plots = Vec::new();
    if !findings.crowds.is_empty() {
        plots.push(Plot::new(
            "throughput.svg",
            "Throughput against ceilings",
            |title| bars(title, "/s", Scale::Linear, &throughput(findings)),
        ));
        plots.push(Plot::new("drain.svg", "Entries that wait, over time", |title| {
            lines(title, "seconds", "entries", Scale::Linear, &drain(findings))
        }));
    }
    if !findings.curves.is_empty() {
        plots.push(Plot::new(
            "latency.svg",
            "Latency at constant rates, all win",
            |title| {
                lines(
                    title,
                    "nines",
                    "milliseconds",
                    Scale::Logarithmic,
                    &latency(findings),
                )
            },
        ));
    }
    if !findings.strategies.is_empty() {
        let rows = |of: fn(&crate::strategies::Row) -> f64| {
            findings
                .strategies
                .iter()
                .map(|row| (row.name.to_owned(), of(row)))
                .collect::<Vec<_>>()
        };
        plots.push(Plot::new(
            "strategies.svg",
            "Orders accepted a second, by strategy (logarithmic)",
            |title| bars(title, "/s", Scale::Logarithmic, &rows(|row| row.accepted)),
        ));
        plots.push(Plot::new(
            "settled.svg",
            "Orders written a second, by strategy (logarithmic)",
            |title| bars(title, "/s", Scale::Logarithmic, &rows(|row| row.settled)),
        ));
    }
    plots
}

fn throughput(findings: &Findings) -> Vec<(String, f64)> {
    let ceilings = findings
        .ceilings
        .keys()
        .filter_map(|name| Some((name.clone(), findings.ceiling(name)?)));
    let crowds = findings.crowds.keys().filter_map(|name| {
        Some((
            format!("ours: {name}"),
            findings.crowd_median(name, |reading| reading.rate)?,
        ))
    });
    ceilings.chain(crowds).collect()
}

/// One line a round of all win.
fn drain(findings: &Findings) -> Vec<Line> {
    let readings = findings.crowds.get("W all win").into_iter().flatten().enumerate();
    readings
        .filter_map(|(round, reading)| {
            #[expect(clippy::cast_precision_loss, reason = "counts are small")]
            let points = reading
                .drain
                .as_ref()?
                .curve
                .iter()
                .map(|(at, waiting)| (*at, *waiting as f64))
                .collect();
            Some(Line {
                name: format!("round {}", round + 1),
                points,
            })
        })
        .collect()
}

/// Percentiles as numbers of nines, so that the tail has room: 90 % is 1, 99 % is 2.
fn latency(findings: &Findings) -> Vec<Line> {
    findings
        .curves
        .iter()
        .map(|point| Line {
            name: format!("{:.0}/s ({:.0} %)", point.per_second, point.share * 100.0),
            points: point
                .curve
                .iter()
                .map(|(percentile, latency)| (-(1.0 - percentile / 100.0).log10(), *latency))
                .collect(),
        })
        .collect()
}
