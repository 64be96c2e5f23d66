//! Consumers: own pending entries first, then what others left, then fresh ones. Points C1 to C5, K and J.

use crate::{
    model::{
        Mutation,
        ledger::Fate,
        stream::{Entry, NoGroup},
    },
    world::World,
};

/// What a consumer does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Makes the group where it is missing.
    Open,
    CatchUp,
    Read,
    Write,
    /// Writes the failed row of the order to blame.
    Reject,
    GiveBack,
    Finish,
    Tell,
}

/// A consumer process.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    up: bool,
    name: u8,
    task: Task,
    /// Where it reads after this batch.
    home: Task,
    batch: Vec<Entry>,
    /// Ranges of the batch still to write, the next one last.
    open: Vec<(usize, usize)>,
    fates: Vec<Fate>,
    given: usize,
}

impl Worker {
    pub(crate) const fn new(name: u8) -> Self {
        Self {
            up: true,
            name,
            task: Task::Open,
            home: Task::CatchUp,
            batch: Vec::new(),
            open: Vec::new(),
            fates: Vec::new(),
            given: 0,
        }
    }

    /// Whether it waits for entries and holds none.
    pub(crate) fn rests(&self) -> bool {
        self.up && self.task == Task::Read
    }

    /// Drops what it holds and begins again, as after any error.
    fn begin_again(&mut self) {
        *self = Self::new(self.name);
    }

    /// After the writing: gives back what failed, one by one, then acknowledges.
    fn proceed(&mut self) {
        if !self.open.is_empty() {
            self.task = Task::Write;
            return;
        }
        let failed = |fate: &Fate| matches!(fate, Fate::Failed { .. } | Fate::Unwritable);
        let next = self.fates.iter().skip(self.given).position(failed);
        self.given += next.unwrap_or_default();
        self.task = if next.is_some() {
            Task::GiveBack
        } else {
            Task::Finish
        };
    }

    fn hold(&mut self, batch: Vec<Entry>) {
        self.home = self.task;
        self.open = vec![(0, batch.len())];
        self.fates.clear();
        self.given = 0;
        self.batch = batch;
        self.task = Task::Write;
    }
}

impl World {
    /// One consumer goes on. `false`: it found nothing to do.
    pub(crate) fn step_worker(&mut self, at: usize) -> bool {
        if !self.workers[at].up {
            // One in four comes back under another name (K18).
            let fresh = self.rng.u8(..4) == 0;
            let name = self.workers[at].name + if fresh { 2 } else { 0 };
            self.workers[at] = Worker::new(name);
            self.note(|_| format!("worker {at} starts as consumer {name}"));
            return true;
        }
        if self.fault(4) {
            let worker = &mut self.workers[at];
            worker.up = false;
            self.note(|world| format!("worker {at} is killed before {:?}", world.workers[at].task));
            return true;
        }
        match self.workers[at].task {
            Task::Open => {
                self.redis.stream.ensure_group();
                self.workers[at].task = Task::CatchUp;
                true
            }
            Task::CatchUp | Task::Read => self.read(at),
            Task::Write => {
                self.write(at);
                true
            }
            Task::Reject => {
                self.reject(at);
                true
            }
            Task::GiveBack => {
                self.give_back_next(at);
                true
            }
            Task::Finish => {
                self.finish(at);
                true
            }
            Task::Tell => {
                self.tell(at);
                true
            }
        }
    }

    fn read(&mut self, at: usize) -> bool {
        let worker = &self.workers[at];
        let (name, count) = (worker.name, self.rng.usize(1..=3));
        let stream = &mut self.redis.stream;
        let takes_over = worker.task == Task::Read && self.rng.u8(..3) == 0;
        let read: Result<Vec<Entry>, NoGroup> = if worker.task == Task::CatchUp {
            stream.own_pending(name, count)
        } else if takes_over {
            let (calm, rng) = (self.calm, &mut self.rng);
            stream.claim(name, || calm || rng.bool())
        } else {
            stream.fresh(name, count)
        };
        let worker = &mut self.workers[at];
        match read {
            Err(NoGroup) => {
                worker.begin_again();
                self.note(|_| format!("worker {at} finds no group"));
            }
            Ok(batch) if batch.is_empty() => {
                if worker.task == Task::Read {
                    return false;
                }
                worker.task = Task::Read;
            }
            Ok(batch) => {
                worker.hold(batch);
                let how = if takes_over { "takes over" } else { "holds" };
                self.note(|world| format!("worker {at} {how} {:?}", world.workers[at].batch));
            }
        }
        true
    }

    fn write(&mut self, at: usize) {
        if self.mutation == Mutation::AckBeforeCommit {
            self.redis.stream.finish(&self.workers[at].batch);
        }
        if self.fault(6) {
            self.workers[at].begin_again();
            self.note(|_| format!("worker {at}: the transaction rolls back"));
            return;
        }
        let worker = &mut self.workers[at];
        let Some((from, to)) = worker.open.pop() else {
            return worker.proceed();
        };
        let part = &worker.batch[from..to];
        let settled = self.ledger.settle(part, self.mutation);
        match &settled {
            Some(fates) => {
                worker.fates.extend(fates);
                worker.proceed();
            }
            None if to - from == 1 => worker.task = Task::Reject,
            None => {
                let middle = from + (to - from) / 2;
                worker.open.push((middle, to));
                worker.open.push((from, middle));
            }
        }
        self.note(|world| {
            let part = &world.workers[at].batch[from..to];
            format!("worker {at} settles {part:?}: {settled:?}")
        });
        if settled.is_some() {
            self.after_commit(at);
        }
    }

    fn reject(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        let entry = worker.batch[worker.fates.len()];
        let fate = self.ledger.reject(&entry);
        worker.fates.push(fate);
        worker.proceed();
        self.note(|_| format!("worker {at} rejects {entry:?}: {fate:?}"));
        self.after_commit(at);
    }

    /// The commit may have no answer, though it holds (C3).
    fn after_commit(&mut self, at: usize) {
        if self.fault(6) {
            self.workers[at].begin_again();
            self.note(|_| format!("worker {at}: the answer to the commit is lost"));
        }
    }

    fn give_back_next(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        let entry = worker.batch[worker.given];
        let instead = match worker.fates[worker.given] {
            Fate::Failed { instead } => instead,
            _ => None,
        };
        worker.given += 1;
        worker.proceed();
        let given = self
            .redis
            .give_back(entry.user, entry.order, instead, self.mutation);
        self.note(|_| format!("worker {at} gives back {entry:?}, instead {instead:?}: {given}"));
        if self.fault(6) {
            self.workers[at].begin_again();
            self.note(|_| format!("worker {at}: the answer to the give-back is lost"));
        }
    }

    fn finish(&mut self, at: usize) {
        self.redis.stream.finish(&self.workers[at].batch);
        self.workers[at].task = Task::Tell;
        self.note(|_| format!("worker {at} acknowledges"));
        if self.fault(6) {
            self.workers[at].begin_again();
            self.note(|_| format!("worker {at}: the answer to the acknowledgement is lost"));
        }
    }

    /// What subscribers hear is what the ledger says (I8).
    fn tell(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        worker.task = worker.home;
        for (entry, fate) in worker.batch.iter().zip(&worker.fates) {
            let failed = self.ledger.row(entry.order).map(|row| row.failed.is_some());
            let told = matches!(fate, Fate::Failed { .. } | Fate::Unwritable);
            if failed != Some(told) && self.broken.is_none() {
                self.broken = Some(format!(
                    "I8: {entry:?} is told as {fate:?}, the row says {failed:?}"
                ));
            }
        }
    }
}
