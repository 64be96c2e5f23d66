//! Operators: changes of stock in two steps around the ledger's commit, and pause, resume, end.

use domain::Control;

use crate::{
    model::{
        Mutation,
        redis::{Open, Step},
    },
    world::World,
};

/// An operator who changes the stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restocker {
    Idle,
    Begin(Change),
    Write(Change),
    End(Change, Step),
}

/// A change of stock, and the epoch and version under which the operator saw the sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    number: i64,
    delta: i64,
    seen: (i64, i64),
}

/// An operator who pauses, resumes or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steerer {
    Idle,
    /// The ledger has it; Redis is told next.
    Tell {
        epoch: i64,
        to: Open,
    },
}

impl World {
    /// The operator who changes the stock goes on.
    pub(crate) fn step_restocker(&mut self) -> bool {
        if self.restocker != Restocker::Idle && self.fault(8) {
            self.note(|world| format!("the operator is killed before {:?}", world.restocker));
            self.restocker = Restocker::Idle;
            return true;
        }
        let next = match self.restocker {
            Restocker::Idle => {
                if self.calm || self.ended() || self.rng.u8(..3) > 0 {
                    return false;
                }
                let delta = [-2, -1, 1, 2][self.rng.usize(..4)];
                let (number, seen) = (self.mint(), (self.ledger.epoch, self.ledger.version));
                Restocker::Begin(Change { number, delta, seen })
            }
            Restocker::Begin(change) => {
                match self
                    .redis
                    .restock(Step::Begin, change.seen.0, change.number, change.delta)
                {
                    0 | 1 => Restocker::Write(change),
                    _ => Restocker::Idle,
                }
            }
            Restocker::Write(change) => self.write_change(change),
            Restocker::End(change, step) => {
                self.redis
                    .restock(step, change.seen.0, change.number, change.delta);
                Restocker::Idle
            }
        };
        self.note(|world| format!("the operator: {:?} -> {next:?}", world.restocker));
        self.restocker = next;
        true
    }

    fn write_change(&mut self, change: Change) -> Restocker {
        // Rolled back, or committed without an answer: unknown to the operator, who leaves it to recovery.
        if self.fault(6) {
            return Restocker::Idle;
        }
        let written = self.ledger.change(change.number, change.seen, change.delta);
        if self.fault(6) {
            return Restocker::Idle;
        }
        Restocker::End(change, if written { Step::Commit } else { Step::Abort })
    }

    /// Brings a change to its end that nobody seems to finish: the ledger tells how, and is told before an abort, so
    /// that an operator who is only slow finds another version.
    pub(crate) fn recover_changes(&mut self) -> bool {
        if let Some((epoch, number, delta, step)) = self.recovery.take() {
            self.redis.restock(step, epoch, number, delta);
            self.note(|_| format!("recovery: {step:?} of change {number} ({delta:+}) under epoch {epoch}"));
            return true;
        }
        let Some(&(number, delta)) = self.redis.sale.changes.0.first() else {
            return false;
        };
        let written = self.ledger.changes.contains(&number);
        if !written && self.mutation != Mutation::RecoveryOnlyLooks {
            self.ledger.version += 1;
        }
        let step = if written { Step::Commit } else { Step::Abort };
        self.recovery = Some((self.ledger.epoch, number, delta, step));
        self.note(|_| format!("recovery will {step:?} change {number}"));
        true
    }

    /// An operator who steers goes on.
    pub(crate) fn step_steerer(&mut self, at: usize) -> bool {
        let steerer = self.steerers[at];
        match steerer {
            Steerer::Idle => {
                if self.ended() || self.rng.u8(..3) > 0 {
                    return false;
                }
                let control = match self.rng.u8(..8) {
                    0 => Control::Ended,
                    1..=3 => Control::Paused,
                    _ => Control::Running,
                };
                self.ledger.steer(control);
                let (epoch, to) = (self.ledger.epoch, self.ledger.steering());
                self.steerers[at] = Steerer::Tell { epoch, to };
            }
            Steerer::Tell { .. } if self.fault(8) => self.steerers[at] = Steerer::Idle,
            Steerer::Tell { epoch, to } => {
                let set = self.redis.steer(epoch, to, self.mutation);
                self.told_ended |= set > 0 && to.state == Control::Ended;
                self.steerers[at] = Steerer::Idle;
            }
        }
        self.note(|world| format!("steering operator {at}: {:?}", world.steerers[at]));
        true
    }

    /// Whether Redis says what operators said last.
    pub(crate) fn is_steered(&self) -> bool {
        self.redis
            .sale
            .open
            .is_some_and(|open| open.state == self.ledger.control)
    }

    /// The guardian tells Redis what operators said, where that was lost; what it knows may be old by then.
    pub(crate) fn steer_again(&mut self) -> bool {
        if let Some((epoch, to)) = self.resteer.take() {
            let code = self.redis.steer(epoch, to, self.mutation);
            self.note(|_| format!("the guardian steers under epoch {epoch} to {to:?}: {code}"));
            return true;
        }
        if self.is_steered() {
            return false;
        }
        self.resteer = Some((self.ledger.epoch, self.ledger.steering()));
        true
    }
}
