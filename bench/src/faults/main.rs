//! `faults`: plays everything that can go wrong against the real processes, and judges afterwards, from what clients saw
//! and what the stores hold, whether the promises held.
//!
//! Each scenario opens a shop of its own, lets people come, breaks something, waits for rest and asks the judge. Nothing
//! here knows the engine: it sees HTTP, Redis, PostgreSQL and processes, as an operator does.

mod check;
mod crowd;
mod history;
mod http;
mod instance;
mod listen;
mod load;
mod process;
mod proxy;
mod report;
mod scenarios;
mod shop;
mod stage;
mod stores;
mod wait;
mod watch;

use std::{
    io::Write,
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Context;
use clap::Parser;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    report::{Ending, Row},
    scenarios::{ELSEWHERE, Scenario},
    stage::Stage,
};

/// The longest that one scenario may take.
const PATIENCE: Duration = Duration::from_mins(4);

/// Breaks the running system in every way there is, and checks that nothing is lost and nothing oversold.
#[derive(Debug, Parser)]
#[command(max_term_width = 110)]
struct Cli {
    /// Same seed, same crowd and same order of faults.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these, by id: `K10,K53`.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// The short set of `make test`.
    #[arg(long)]
    quick: bool,
    /// Seconds of the soak (K54).
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=7200))]
    soak: u64,
    /// Names the scenarios and plays none.
    #[arg(long)]
    list: bool,
    /// The server, built with the feature `failpoints`.
    #[arg(long, default_value = "target/faults/server")]
    server: PathBuf,
    /// Where logs and `faults.md` go.
    #[arg(long, default_value = "target/faults")]
    out: PathBuf,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // One thread: the kernel ends the processes under test with the thread that started them.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime
        .context("no runtime")
        .and_then(|runtime| runtime.block_on(until_told(&cli)));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("faults: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Plays until done or told to stop; what was started ends either way.
async fn until_told(cli: &Cli) -> anyhow::Result<bool> {
    let (mut int, mut term) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        done = play_all(cli) => done,
        _ = int.recv() => anyhow::bail!("interrupted"),
        _ = term.recv() => anyhow::bail!("told to stop"),
        _ = hang_up.recv() => anyhow::bail!("the terminal was closed"),
    }
}

async fn play_all(cli: &Cli) -> anyhow::Result<bool> {
    let chosen: Vec<&'static Scenario> = scenarios::all()
        .filter(|scenario| is_chosen(cli, scenario))
        .collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "no scenario has such an id; --list names them"
    );
    if cli.list {
        for scenario in chosen {
            say(&format!("{:<18} {}", scenario.id, scenario.about));
        }
        return Ok(true);
    }
    let mut stage = Stage::build(&cli.server, &cli.out).await?;
    stage.soak = cli.soak;
    let mut rows = Vec::new();
    for scenario in chosen {
        let row = play(&mut stage, scenario, cli.seed).await;
        say(&row.line());
        if !row.is_good() {
            for trouble in row.troubles() {
                say(&format!("    {trouble}"));
            }
        }
        rows.push(row);
        // After each, so that an interrupted run leaves its table too.
        let page = report::page(&rows, cli.seed, ELSEWHERE);
        std::fs::write(cli.out.join("faults.md"), page).context("the report can't be written")?;
    }
    stage.strike().await?;
    let bad = rows.iter().filter(|row| !row.is_good()).count();
    let report = cli.out.join("faults.md");
    say(&format!(
        "{} of {} went as they should; {}",
        rows.len() - bad,
        rows.len(),
        report.display()
    ));
    Ok(bad == 0)
}

async fn play(stage: &mut Stage, scenario: &'static Scenario, seed: u64) -> Row {
    let began = Instant::now();
    let stage_soak = stage.soak;
    (stage.scenario, stage.seed) = (scenario.id, seed);
    let play = async {
        // An earlier scenario may have left it down.
        if stage.cluster.admin("postgres").await.is_err() {
            stage.cluster.restart().await?;
        }
        (scenario.play)(stage).await
    };
    let patience = PATIENCE + Duration::from_secs(stage_soak);
    let ending = match tokio::time::timeout(patience, play).await {
        Ok(Ok(verdict)) => Ending::Judged(verdict),
        Ok(Err(error)) => Ending::Failed(format!("{error:#}")),
        Err(_) => Ending::Failed(format!("not over after {patience:?}")),
    };
    stage.sweep().await;
    Row {
        scenario,
        seed,
        ending,
        took: began.elapsed(),
    }
}

fn is_chosen(cli: &Cli, scenario: &Scenario) -> bool {
    let named = |id: &String| scenario.id.eq_ignore_ascii_case(id);
    if cli.only.is_empty() {
        !cli.quick || scenario.quick
    } else {
        cli.only.iter().any(named)
    }
}

/// Results go to standard output; a reader that has gone away is no error of ours.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}
