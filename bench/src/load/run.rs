//! A run: connections that share the attempts among them, on one thread.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use tokio::{task::LocalSet, time::timeout};

use super::{
    Outcome, Target,
    connection::{Connection, Failure},
    pace::Metronome,
};

/// After a failed connect a connection rests, so that a dead server is not hammered.
const REST: Duration = Duration::from_millis(50);

/// A shopper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    /// Account number.
    pub(crate) user: i64,
    /// Session token.
    pub(crate) token: Box<str>,
}

/// When a run is over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Amount {
    /// After this many attempts.
    Attempts(u64),
    /// After this time; what is under way is finished.
    For(Duration),
}

/// How attempts follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// Each connection sends as soon as it has its answer. Latency counts from the sending.
    Closed,
    /// So many a second, whatever became of the earlier ones. Latency counts from the moment an attempt was due, so
    /// that a stalled server is charged for those that it kept waiting.
    Open {
        /// Attempts a second.
        per_second: f64,
    },
}

/// What to run.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Where to, and what answers mean.
    pub(crate) target: Arc<Target>,
    /// Attempt `n` is made by person `first + n`, modulo their number.
    pub(crate) people: Arc<[Person]>,
    /// The person of the first attempt.
    pub(crate) first: usize,
    /// Connections.
    pub(crate) connections: usize,
    /// When to end.
    pub(crate) amount: Amount,
    /// How fast.
    pub(crate) pace: Pace,
    /// An answer that takes longer counts as none.
    pub(crate) timeout: Duration,
}

impl Plan {
    /// Closed loop, 256 connections, ten seconds of patience.
    pub(crate) fn closed(target: Arc<Target>, people: Arc<[Person]>, amount: Amount) -> Self {
        Self {
            target,
            people,
            first: 0,
            connections: 256,
            amount,
            pace: Pace::Closed,
            timeout: Duration::from_secs(10),
        }
    }
}

/// Runs a plan on a thread of its own.
pub(crate) async fn run(plan: Plan) -> Result<Outcome> {
    let (done, told) = tokio::sync::oneshot::channel();
    thread::Builder::new().name("load".into()).spawn(move || {
        let _ = done.send(drive(plan));
    })?;
    told.await.context("the generator's thread died")?
}

fn drive(plan: Plan) -> Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(LocalSet::new().block_on(&runtime, all(plan)))
}

struct Shared {
    plan: Plan,
    next: Cell<u64>,
    end: Option<Instant>,
    metronome: Option<Metronome>,
    outcome: RefCell<Outcome>,
}

async fn all(plan: Plan) -> Outcome {
    let mut connections: Vec<Connection> = (0..plan.connections)
        .map(|_| Connection::new(plan.target.address))
        .collect();
    // All stand before the clock starts; one that can't is tried again, and counted, at its first attempt.
    for connection in &mut connections {
        let _ = connection.open().await;
    }
    let metronome = match plan.pace {
        Pace::Open { per_second } => Some(Metronome::start(per_second)),
        Pace::Closed => None,
    };
    let start = metronome
        .as_ref()
        .map_or_else(Instant::now, |metronome| metronome.due_at(0));
    let end = match plan.amount {
        Amount::For(time) => Some(start + time),
        Amount::Attempts(_) => None,
    };
    let shared = Rc::new(Shared {
        plan,
        next: Cell::new(0),
        end,
        metronome,
        outcome: RefCell::new(Outcome::new()),
    });
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|connection| tokio::task::spawn_local(one(shared.clone(), connection)))
        .collect();
    for task in tasks {
        let _ = task.await;
    }
    let mut outcome = shared.outcome.replace(Outcome::new());
    outcome.elapsed = start.elapsed();
    outcome
}

impl Shared {
    /// The next attempt, and the moment from which its latency counts.
    async fn take(&self) -> Option<(u64, Instant)> {
        if let Some(metronome) = &self.metronome
            && !metronome.wait().await
        {
            return None;
        }
        let number = self.next.get();
        let used_up = matches!(self.plan.amount, Amount::Attempts(most) if number >= most);
        let since = self
            .metronome
            .as_ref()
            .map_or_else(Instant::now, |metronome| metronome.due_at(number));
        if used_up || self.end.is_some_and(|end| since >= end) {
            if let Some(metronome) = &self.metronome {
                metronome.finish();
            }
            return None;
        }
        self.next.set(number + 1);
        Some((number, since))
    }
}

async fn one(shared: Rc<Shared>, mut connection: Connection) {
    let (target, people) = (shared.plan.target.clone(), shared.plan.people.clone());
    while let Some((number, since)) = shared.take().await {
        let place = (shared.plan.first + usize::try_from(number).unwrap_or(0)) % people.len();
        target.render(&people[place], number, &mut connection.request);
        let judge = |status: u16, body: &[u8]| (target.judge(status, body), status);
        let answer = timeout(shared.plan.timeout, connection.exchange(judge)).await;
        match answer {
            Ok(Ok((verdict, status))) => {
                shared
                    .outcome
                    .borrow_mut()
                    .answer(verdict, status, since.elapsed());
            }
            Ok(Err(Failure::Server(kind))) => {
                *shared.outcome.borrow_mut().failed.entry(kind).or_default() += 1;
                tokio::time::sleep(REST).await;
            }
            Ok(Err(Failure::Own(kind))) => {
                *shared.outcome.borrow_mut().own_failures.entry(kind).or_default() += 1;
                tokio::time::sleep(REST).await;
            }
            Err(_) => {
                connection.close();
                shared.outcome.borrow_mut().timed_out += 1;
            }
        }
    }
}
