//! The four crowds: all win (W), sold out (X), mixed (M), those who have one already (D).

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use domain::VoucherId;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    drain::{Drain, Watch, wait_drained},
    load::{Amount, Outcome, Pace, Person, Plan, Quantiles, run},
    stand::{Served, Stand, function_target, our_target, proc},
};

/// Which crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Crowd {
    /// Everybody gets a unit; the sessions were seen moments ago.
    AllWin,
    /// Everybody gets a unit; no session was seen before.
    AllWinCold,
    /// Everybody gets a unit, through the server function of the page.
    AllWinByPage,
    /// Nothing is left.
    SoldOut,
    /// Nothing is left, through the server function: what one costs that has next to nothing to do.
    SoldOutByPage,
    /// One unit for a hundred attempts.
    Mixed,
    /// Everybody has one already.
    Duplicates,
}

impl Crowd {
    /// All of them.
    pub(crate) const ALL: [Self; 7] = [
        Self::AllWin,
        Self::AllWinCold,
        Self::AllWinByPage,
        Self::SoldOut,
        Self::SoldOutByPage,
        Self::Mixed,
        Self::Duplicates,
    ];

    /// Short name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::AllWin => "W all win",
            Self::AllWinCold => "W cold sessions",
            Self::AllWinByPage => "W by server function",
            Self::SoldOut => "X sold out",
            Self::SoldOutByPage => "X by server function",
            Self::Mixed => "M mixed, 1 %",
            Self::Duplicates => "D duplicates",
        }
    }
}

/// How much.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Attempts where each shopper makes one.
    pub(crate) attempts: u64,
    /// Time where shoppers come again.
    pub(crate) time: Duration,
}

/// What one run of a crowd showed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Reading {
    /// The crowd.
    pub(crate) name: &'static str,
    /// Answers.
    pub(crate) answered: u64,
    /// Units granted.
    pub(crate) accepted: u64,
    /// Refused, nothing left.
    pub(crate) sold_out: u64,
    /// Refused, had one.
    pub(crate) duplicate: u64,
    /// Anything that should not have been.
    pub(crate) troubles: String,
    /// Answers a second.
    pub(crate) rate: f64,
    /// Units granted a second.
    pub(crate) accept_rate: f64,
    /// Milliseconds.
    pub(crate) latency: Quantiles,
    /// Processor seconds of the server for a thousand answers.
    pub(crate) cpu_a_thousand: f64,
    /// The same of Redis.
    pub(crate) redis_cpu_a_thousand: f64,
    /// The same of the generator.
    pub(crate) own_cpu_a_thousand: f64,
    /// The server's resident memory afterwards, in MiB.
    pub(crate) resident_mib: f64,
    /// How the ledger followed, where there was something to write.
    pub(crate) drain: Option<Drain>,
    /// Invariants that did not hold; empty, or the run found a bug.
    pub(crate) broken: Vec<String>,
}

/// A server, its people and what they need.
pub(crate) struct Shop<'a> {
    /// Stores.
    pub(crate) stand: &'a Stand,
    /// The server.
    pub(crate) server: &'a Served,
    /// Everybody.
    pub(crate) people: Arc<[Person]>,
    /// A sale that has not opened: asking for it makes the server know the sessions.
    pub(crate) unopened: VoucherId,
}

impl Shop<'_> {
    /// Runs one crowd in a closed loop.
    pub(crate) async fn run(&self, crowd: Crowd, size: Size) -> Result<Reading> {
        let few = self.people.len().min(10_000);
        let (sale, people, amount) = match crowd {
            Crowd::AllWin | Crowd::AllWinCold | Crowd::AllWinByPage => (
                self.stand.sale(size.attempts).await?,
                self.people.clone(),
                Amount::Attempts(size.attempts),
            ),
            Crowd::Mixed => (
                self.stand.sale((size.attempts / 100).max(1)).await?,
                self.people.clone(),
                Amount::Attempts(size.attempts),
            ),
            Crowd::SoldOut | Crowd::SoldOutByPage => {
                let sale = self.stand.sale(1).await?;
                self.take(sale, self.people[few..].iter().take(1).cloned().collect())
                    .await?;
                (sale, self.people[..few].into(), Amount::For(size.time))
            }
            Crowd::Duplicates => {
                let sale = self.stand.sale(few as u64).await?;
                self.take(sale, self.people[..few].into()).await?;
                (sale, self.people[..few].into(), Amount::For(size.time))
            }
        };
        let (before, _) = self.stand.ledger(sale).await?;
        let people = if crowd == Crowd::AllWinCold {
            self.stand.people(u32::try_from(size.attempts)?).await?
        } else {
            self.warm(&people, amount).await?;
            people
        };
        let target = match crowd {
            Crowd::AllWinByPage | Crowd::SoldOutByPage => function_target(self.server.address, sale)?,
            _ => our_target(self.server.address, sale)?,
        };
        let plan = Plan::closed(target, people, amount);
        self.measure(crowd.name(), sale, before, plan).await
    }

    /// All win, at a constant rate: latency from the moment an attempt was due.
    pub(crate) async fn open_loop(&self, per_second: f64, time: Duration) -> Result<(Reading, Outcome)> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive and small"
        )]
        let attempts = ((per_second * time.as_secs_f64()) as u64).min(self.people.len() as u64);
        let sale = self.stand.sale(attempts).await?;
        self.warm(&self.people, Amount::Attempts(attempts)).await?;
        let mut plan = Plan::closed(
            our_target(self.server.address, sale)?,
            self.people.clone(),
            Amount::Attempts(attempts),
        );
        plan.pace = Pace::Open { per_second };
        let watched = run(plan).await?;
        let broken = self.check(sale, 0, &watched).await?;
        let reading = reading("W open loop", &watched, broken);
        Ok((reading, watched))
    }

    /// Runs a plan and looks at everything around it.
    async fn measure(&self, name: &'static str, sale: VoucherId, before: u64, plan: Plan) -> Result<Reading> {
        let (server, redis, own) = (self.server.pid(), self.stand.redis_pid()?, std::process::id());
        let cpu = || Ok::<_, anyhow::Error>([proc::cpu(server)?, proc::cpu(redis)?, proc::cpu(own)?]);
        let stop = CancellationToken::new();
        let watch = Watch::start(self.stand, &stop).await?;
        let cpu_before = cpu()?;
        let began = Instant::now();
        let outcome = run(plan).await?;
        let load_ended = began.elapsed();
        let cpu_after = cpu()?;
        let backlog = self.stand.backlog().await?;
        wait_drained(self.stand).await?;
        let drained = began.elapsed();
        stop.cancel();
        let curve = watch.curve().await?;
        let broken = self.check(sale, before, &outcome).await?;
        let mut reading = reading(name, &outcome, broken);
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let thousands = (outcome.answered() as f64 / 1000.0).max(1e-9);
        let spent = |at: usize| cpu_after[at].saturating_sub(cpu_before[at]).as_secs_f64() / thousands;
        reading.cpu_a_thousand = spent(0);
        reading.redis_cpu_a_thousand = spent(1);
        reading.own_cpu_a_thousand = spent(2);
        #[expect(clippy::cast_precision_loss, reason = "memory in MiB")]
        let mib = proc::resident(server)? as f64 / 1_048_576.0;
        reading.resident_mib = mib;
        if outcome.accepted > 0 {
            reading.drain = Some(Drain::new(outcome.accepted, backlog, load_ended, drained, curve));
        }
        Ok(reading)
    }

    /// Everybody in `people` takes a unit; nothing is measured.
    async fn take(&self, sale: VoucherId, people: Arc<[Person]>) -> Result<()> {
        let (target, amount) = (
            our_target(self.server.address, sale)?,
            Amount::Attempts(people.len() as u64),
        );
        let taken = run(Plan::closed(target, people.clone(), amount)).await?;
        anyhow::ensure!(
            taken.accepted == people.len() as u64,
            "preparing: {}",
            taken.troubles()
        );
        wait_drained(self.stand).await
    }

    /// Lets the server see the sessions that will come.
    pub(crate) async fn warm(&self, people: &Arc<[Person]>, amount: Amount) -> Result<()> {
        let n = match amount {
            Amount::Attempts(n) => n.min(people.len() as u64),
            Amount::For(_) => people.len() as u64,
        };
        let target = our_target(self.server.address, self.unopened)?;
        let seen = run(Plan::closed(target, people.clone(), Amount::Attempts(n))).await?;
        let refused = seen.other.get(&425).copied().unwrap_or_default();
        anyhow::ensure!(
            refused == n,
            "warming up: {refused} of {n} were told to wait; {}",
            seen.troubles()
        );
        Ok(())
    }

    /// Rows = accepted, and nothing oversold.
    async fn check(&self, sale: VoucherId, before: u64, outcome: &Outcome) -> Result<Vec<String>> {
        let (mut orders, mut left) = self.stand.ledger(sale).await?;
        for _ in 0..200 {
            if orders - before >= outcome.accepted {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            (orders, left) = self.stand.ledger(sale).await?;
        }
        let sum = self
            .stand
            .engine
            .sum(sale)
            .await?
            .context("the sale has no sum")?;
        let mut broken = Vec::new();
        // An attempt without an answer may hold a unit: it is told to ask again, and counts as neither.
        let unclear =
            outcome.timed_out + outcome.failed.values().sum::<u64>() + outcome.other.values().sum::<u64>();
        let rows = orders - before;
        if rows < outcome.accepted || rows > outcome.accepted + unclear {
            broken.push(format!("{rows} rows, {} accepted", outcome.accepted));
        }
        if sum.units != i64::try_from(orders + left)? {
            broken.push(format!(
                "{} units became {orders} orders and {left} left",
                sum.units
            ));
        }
        Ok(broken)
    }
}

fn reading(name: &'static str, outcome: &Outcome, broken: Vec<String>) -> Reading {
    Reading {
        name,
        answered: outcome.answered(),
        accepted: outcome.accepted,
        sold_out: outcome.sold_out,
        duplicate: outcome.duplicate,
        troubles: outcome.troubles(),
        rate: outcome.rate(),
        accept_rate: outcome.accept_rate(),
        latency: outcome.quantiles(),
        cpu_a_thousand: 0.0,
        redis_cpu_a_thousand: 0.0,
        own_cpu_a_thousand: 0.0,
        resident_mib: 0.0,
        drain: None,
        broken,
    }
}
