//! `server doctor`: looks at everything that a sale hangs on, and says what to do.

use std::{fmt::Write, sync::Arc};

use anyhow::bail;
use engine::{Engine, EngineError, EngineSettings, Finding, SystemClock};
use prometheus_client::registry::Registry;

use crate::{config::Serve, listen, pages};

/// Looks, as a process that is served with `serve` would. Fails if anything is wrong.
pub(crate) async fn examine(serve: &Serve, settings: anyhow::Result<EngineSettings>) -> anyhow::Result<()> {
    let mut report = Report::default();
    report.add(around(serve));
    match settings {
        Ok(settings) => {
            report.add([Finding::Good("the settings fit together".to_owned())]);
            stores(settings, &mut report).await;
        }
        Err(error) => report.add([Finding::Wrong(format!("{error:#}"))]),
    }
    crate::commands::say(report.text.trim_end())?;
    if report.wrong > 0 {
        bail!("{} to put right before a sale", counted(report.wrong, "thing"));
    }
    Ok(())
}

/// What must be right before a process may serve. While PostgreSQL is away the shop comes up nevertheless.
pub(crate) async fn refuse_if_wrong(engine: &Engine) -> anyhow::Result<()> {
    let found = match engine.check_ledger().await {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(%error, "PostgreSQL does not answer; grabs are taken and settle when it is back");
            return Ok(());
        }
    };
    let mut wrong = Vec::new();
    for finding in found {
        match finding {
            Finding::Good(_) => {}
            Finding::Warning(text) => tracing::warn!("{text}"),
            Finding::Wrong(text) => wrong.push(text),
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("{}", wrong.join("; "))
}

#[derive(Default)]
struct Report {
    text: String,
    wrong: usize,
}

impl Report {
    fn add(&mut self, found: impl IntoIterator<Item = Finding>) {
        for finding in found {
            let (mark, text) = match finding {
                Finding::Good(text) => ("ok   ", text),
                Finding::Warning(text) => ("warn ", text),
                Finding::Wrong(text) => {
                    self.wrong += 1;
                    ("WRONG", text)
                }
            };
            // Writing to a String can't fail.
            let _ = writeln!(self.text, "{mark}  {text}");
        }
    }

    /// A store that can't be asked is one thing to put right.
    fn asked(&mut self, found: Result<Vec<Finding>, EngineError>, what_to_do: &str) {
        match found {
            Ok(found) => self.add(found),
            Err(error) => self.add([Finding::Wrong(format!("{what_to_do} ({error})"))]),
        }
    }
}

async fn stores(settings: EngineSettings, report: &mut Report) {
    let started = Engine::start(settings, Arc::new(SystemClock), &mut Registry::default()).await;
    let engine = match started {
        Ok(engine) => engine,
        Err(error) => {
            let words = "Redis can't be reached: start it, or correct SECKILL_REDIS_URL. \
                         PostgreSQL is looked at once Redis answers";
            return report.add([Finding::Wrong(format!("{words} ({error})"))]);
        }
    };
    report.asked(
        engine.check_redis().await,
        "Redis does not answer: see whether it is loading its data, or is out of memory",
    );
    report.asked(
        engine.check_ledger().await,
        "PostgreSQL can't be reached: start it, or correct SECKILL_DATABASE_URL",
    );
    let troubles = engine.readiness().await.troubles;
    if troubles.is_empty() {
        report.add([Finding::Good(
            "the script runs, and nothing waits for long".to_owned(),
        )]);
    }
    report.add(
        troubles
            .into_iter()
            .map(|trouble| Finding::Wrong(format!("{trouble}: see docs/runbook.md"))),
    );
    match engine.streams().await {
        Ok(streams) => {
            let dead: u64 = streams.iter().map(|stream| stream.dead).sum();
            if dead > 0 {
                report.add([Finding::Warning(format!(
                    "{dead} dead letters wait for an operator: look at them under /admin"
                ))]);
            }
        }
        Err(error) => report.add([Finding::Wrong(format!(
            "Redis does not tell what waits ({error})"
        ))]),
    }
    engine.close().await;
}

/// The process and its machine.
fn around(serve: &Serve) -> Vec<Finding> {
    let mut found = Vec::new();
    found.push(match pages::read_assets(&serve.site) {
        Ok(_) => Finding::Good("the site is built".to_owned()),
        Err(error) => Finding::Warning(format!("{error:#}; a worker needs no site")),
    });
    if !serve.tls && !serve.listen.ip().is_loopback() {
        found.push(Finding::Warning(
            "listens to the network without --tls: session cookies would travel in the clear; put a proxy with TLS in \
             front and set SECKILL_TLS=true"
                .to_owned(),
        ));
    }
    if serve.demo {
        found.push(Finding::Warning(
            "demo mode shows login codes to everybody: never in production".to_owned(),
        ));
    }
    let files = listen::file_handles();
    found.push(if files < serve.gate.connections {
        Finding::Warning(format!(
            "open files allow {files} connections, the settings {}: raise LimitNOFILE (or ulimit -n)",
            serve.gate.connections
        ))
    } else {
        Finding::Good(format!("open files allow {} connections", serve.gate.connections))
    });
    found
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 {
        format!("one {what}")
    } else {
        format!("{n} {what}s")
    }
}
