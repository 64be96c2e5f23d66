//! `bench load`: the generator against any server on this machine.

use std::{fmt::Write, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::{
    load::{Amount, Outcome, Pace, Person, Plan, Target, run},
    stand::proc,
};

/// What to load, and how.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The target file.
    #[arg(long)]
    target: PathBuf,
    /// `name=value` for the target file's own holes.
    #[arg(long)]
    set: Vec<String>,
    /// `user token` lines, as `server mint-sessions` prints them.
    #[arg(long)]
    users: PathBuf,
    /// Connections.
    #[arg(long, default_value_t = 256)]
    connections: usize,
    /// Open loop: attempts a second. Without it the loop is closed.
    #[arg(long)]
    rate: Option<f64>,
    /// Attempts; else one for each user.
    #[arg(long, conflicts_with = "seconds")]
    attempts: Option<u64>,
    /// Seconds; users come again.
    #[arg(long)]
    seconds: Option<f64>,
    /// Seconds after which an answer counts as none.
    #[arg(long, default_value_t = 10.0)]
    timeout: f64,
    /// The server's process id: its processor time and memory are shown.
    #[arg(long)]
    pid: Option<u32>,
}

/// Runs the load and prints what happened.
pub(crate) async fn load(args: &LoadArgs) -> Result<()> {
    let target = Arc::new(Target::read(&args.target, &args.set)?);
    let people = people(&args.users)?;
    ensure!(
        (1..=10_000).contains(&args.connections),
        "connections: 1 to 10000"
    );
    let amount = match (args.attempts, args.seconds) {
        (Some(n), _) => Amount::Attempts(n),
        (None, Some(seconds)) => Amount::For(Duration::from_secs_f64(seconds.min(600.0))),
        (None, None) => Amount::Attempts(people.len() as u64),
    };
    let plan = Plan {
        target,
        people,
        first: 0,
        connections: args.connections,
        amount,
        pace: args
            .rate
            .map_or(Pace::Closed, |per_second| Pace::Open { per_second }),
        timeout: Duration::from_secs_f64(args.timeout),
    };
    let before = args.pid.map(proc::cpu).transpose()?;
    let outcome = run(plan).await?;
    let mut text = shown(&outcome);
    if let (Some(pid), Some(before)) = (args.pid, before) {
        let spent = proc::cpu(pid)?.saturating_sub(before).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let per = |n: u64| spent * 1000.0 / n.max(1) as f64;
        let memory = proc::resident(pid)? / (1024 * 1024);
        let _ = writeln!(
            text,
            "server      {spent:.2} s of processor; {:.4} s a thousand answers, {:.4} a thousand accepted; {memory} MiB",
            per(outcome.answered()),
            per(outcome.accepted)
        );
    }
    say(&text);
    Ok(())
}

fn people(file: &std::path::Path) -> Result<Arc<[Person]>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
    let people: Arc<[Person]> = text
        .lines()
        .filter_map(|line| {
            let (user, token) = line.split_once(char::is_whitespace)?;
            Some(Person {
                user: user.parse().ok()?,
                token: token.trim().into(),
            })
        })
        .collect();
    ensure!(
        !people.is_empty(),
        "{} holds no `user token` lines",
        file.display()
    );
    Ok(people)
}

/// An outcome for people.
pub(crate) fn shown(outcome: &Outcome) -> String {
    let latency = outcome.quantiles();
    let troubles = outcome.troubles();
    format!(
        "accepted    {} ({:.0}/s)\nsold out    {}\nduplicate   {}\nother       {}\nanswered    {} in {:.2} s ({:.0}/s)\n\
         latency     p50 {:.2} ms, p99 {:.2}, p99.9 {:.2}, longest {:.2}\n",
        outcome.accepted,
        outcome.accept_rate(),
        outcome.sold_out,
        outcome.duplicate,
        if troubles.is_empty() { "none" } else { &troubles },
        outcome.answered(),
        outcome.elapsed.as_secs_f64(),
        outcome.rate(),
        latency.p50,
        latency.p99,
        latency.p999,
        latency.max,
    )
}

/// Results go to standard output.
#[expect(
    clippy::print_stdout,
    reason = "this is what the person at the terminal asked for"
)]
pub(crate) fn say(text: &str) {
    println!("{}", text.trim_end());
}
