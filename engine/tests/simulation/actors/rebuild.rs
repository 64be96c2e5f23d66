//! Rebuilding a sale's copy from the ledger, as the guardian does: look, lock, look again, close, drain, raise the epoch
//! and read, load. Point B. The lock may be lost at any moment: it saves work, and the fence keeps order.

use crate::{
    model::{Mutation, Order, User, redis::Copy},
    world::World,
};

/// A guardian that may rebuild.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rebuilder {
    pub(crate) task: Task,
    /// What it shut earlier: the epoch, and the last entry that was decided before.
    closing: Option<(i64, u64)>,
}

/// What a guardian does next.
#[derive(Debug, Clone, Default)]
pub(crate) enum Task {
    #[default]
    Rest,
    /// Takes the lock; the ledger has passed this fence.
    Lock {
        floor: i64,
    },
    /// Reads the ledger's epoch.
    Read {
        fence: i64,
    },
    /// Looks at Redis again.
    Look {
        fence: i64,
        epoch: i64,
    },
    Close {
        fence: i64,
        newest: i64,
    },
    Drain {
        fence: i64,
        newest: i64,
    },
    /// With the stream drained, a claim without a row has lost its entry: it is queued again.
    Sweep {
        fence: i64,
        newest: i64,
        claims: Vec<(User, Order)>,
    },
    /// Raises the ledger's epoch and reads.
    Raise {
        fence: i64,
        newest: i64,
    },
    Load {
        copy: Copy,
    },
}

/// The rebuild lock in Redis.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lock {
    holder: Option<usize>,
    fence: i64,
}

impl World {
    /// One rebuilder goes on. `false`: nothing to do.
    pub(crate) fn step_rebuilder(&mut self, at: usize) -> bool {
        let task = std::mem::take(&mut self.rebuilders[at].task);
        let rests = matches!(task, Task::Rest);
        if !rests && self.fault(4) {
            // The lock stays until somebody finds its holder gone.
            self.rebuilders[at] = Rebuilder::default();
            self.note(|_| format!("rebuilder {at} is killed before {task:?}"));
            return true;
        }
        let next = self.after(at, &task);
        if matches!(next, Task::Rest) {
            if self.lock.holder == Some(at) {
                self.lock.holder = None;
            }
            if rests {
                return false;
            }
        }
        self.note(|_| format!("rebuilder {at}: {task:?} -> {next:?}"));
        self.rebuilders[at].task = next;
        true
    }

    fn after(&mut self, at: usize, task: &Task) -> Task {
        match *task {
            Task::Rest if self.needs_rebuild() => {
                let floor = self.ledger.fence;
                Task::Lock { floor }
            }
            Task::Rest => {
                self.rebuilders[at].closing = None;
                Task::Rest
            }
            Task::Lock { floor } => self.lock(at, floor),
            Task::Read { fence } => {
                let epoch = self.ledger.epoch;
                Task::Look { fence, epoch }
            }
            Task::Look { fence, epoch } => match self.redis.loaded() {
                Some(loaded) if loaded == (epoch, self.run) => Task::Rest,
                loaded => {
                    let newest = loaded.map_or(epoch, |loaded| loaded.0.max(epoch));
                    if self.mutation == Mutation::RebuildWithoutClose {
                        Task::Raise { fence, newest }
                    } else {
                        Task::Close { fence, newest }
                    }
                }
            },
            Task::Close { fence, newest } => {
                let Some(last) = self.redis.close(newest) else {
                    return Task::Rest;
                };
                let closing = &mut self.rebuilders[at].closing;
                if closing.is_none_or(|(epoch, _)| epoch != newest) {
                    *closing = Some((newest, last));
                }
                Task::Drain { fence, newest }
            }
            Task::Drain { fence, newest } => {
                let last = self.rebuilders[at].closing.map_or(0, |(_, last)| last);
                if self.redis.stream.entries.iter().any(|entry| entry.seq <= last) {
                    // Another pass comes again.
                    return Task::Rest;
                }
                let claims = self.redis.holders().collect();
                Task::Sweep {
                    fence,
                    newest,
                    claims,
                }
            }
            Task::Sweep {
                fence,
                newest,
                ref claims,
            } => {
                if self.mutation != Mutation::ForgetOrphans && self.sweep_claims(newest, claims) {
                    self.rebuilders[at].closing = None;
                    return Task::Close { fence, newest };
                }
                Task::Raise { fence, newest }
            }
            // Rolled back, refused, or committed without an answer.
            Task::Raise { fence, newest } => {
                if self.fault(4) || !self.ledger.raise(newest, fence, self.mutation) || self.fault(4) {
                    return Task::Rest;
                }
                let copy = self.ledger.copy();
                Task::Load { copy }
            }
            Task::Load { ref copy } => {
                let mut copy = copy.clone();
                copy.open.run = self.run;
                self.redis.load(&copy);
                self.rebuilders[at].closing = None;
                Task::Rest
            }
        }
    }

    /// Queues claims without a row again. Whether there were any.
    fn sweep_claims(&mut self, epoch: i64, claims: &[(User, Order)]) -> bool {
        let mut any = false;
        for (user, order) in claims {
            if self.ledger.row(*order).is_none() {
                any |= self.redis.requeue(epoch, *user, *order);
            }
        }
        any
    }

    /// Takes the lock if it is free, or if its holder is gone or too slow.
    fn lock(&mut self, at: usize, floor: i64) -> Task {
        if let Some(holder) = self.lock.holder {
            let gone = matches!(self.rebuilders[holder].task, Task::Rest);
            if !gone && !self.fault(20) {
                return Task::Rest;
            }
        }
        let fence = (self.lock.fence + 1).max(floor + 1);
        self.lock = Lock {
            holder: Some(at),
            fence,
        };
        Task::Read { fence }
    }
}
