//! Operators: changes of stock in two steps around the ledger's commit, and pause, resume, end.

use domain::Control;

use crate::{
    model::{Mutation, ledger::WINDOW, redis::Step},
    world::World,
};

/// An operator who changes the stock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restocker {
    Idle,
    Begin {
        change: i64,
        epoch: i64,
        delta: i64,
    },
    Write {
        change: i64,
        epoch: i64,
        delta: i64,
    },
    End {
        change: i64,
        epoch: i64,
        delta: i64,
        step: Step,
    },
}

/// An operator who pauses, resumes or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steerer {
    Idle,
    /// The ledger has it; Redis is told next.
    Tell {
        control: Control,
        epoch: i64,
    },
}

impl Restocker {
    const fn works_on(self, number: i64) -> bool {
        match self {
            Self::Idle => false,
            Self::Begin { change, .. } | Self::Write { change, .. } | Self::End { change, .. } => {
                change == number
            }
        }
    }
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
                Restocker::Begin {
                    change: self.mint(),
                    epoch: self.ledger.epoch,
                    delta,
                }
            }
            Restocker::Begin {
                change,
                epoch,
                delta,
            } => match self.redis.restock(Step::Begin, epoch, change, delta) {
                0 | 1 => Restocker::Write {
                    change,
                    epoch,
                    delta,
                },
                _ => Restocker::Idle,
            },
            Restocker::Write {
                change,
                epoch,
                delta,
            } => self.write_change(change, epoch, delta),
            Restocker::End {
                change,
                epoch,
                delta,
                step,
            } => {
                self.redis.restock(step, epoch, change, delta);
                Restocker::Idle
            }
        };
        self.note(|world| format!("the operator: {:?} -> {next:?}", world.restocker));
        self.restocker = next;
        true
    }

    fn write_change(&mut self, change: i64, epoch: i64, delta: i64) -> Restocker {
        // Rolled back, or committed without an answer: unknown to the operator, who leaves it to recovery.
        if self.fault(6) {
            return Restocker::Idle;
        }
        let written = self.ledger.change(change, epoch, delta);
        if self.fault(6) {
            return Restocker::Idle;
        }
        let step = if written { Step::Commit } else { Step::Abort };
        Restocker::End {
            change,
            epoch,
            delta,
            step,
        }
    }

    /// Brings changes to their end whose operator is gone: the ledger tells how.
    pub(crate) fn recover_changes(&mut self) -> bool {
        let Some(sale) = &self.redis.sale else {
            return false;
        };
        let waits = self.mutation != Mutation::RecoveryDoesNotWait;
        let left = |noted: &&(i64, i64)| !waits || !self.restocker.works_on(noted.0);
        let Some(&(change, delta)) = sale.changes.0.iter().find(left) else {
            return false;
        };
        let epoch = sale.epoch;
        let written = self.ledger.changes.contains(&change);
        let step = if written { Step::Commit } else { Step::Abort };
        self.redis.restock(step, epoch, change, delta);
        self.note(|_| format!("recovery: {step:?} of change {change} ({delta:+})"));
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
                self.ledger.control = control;
                let epoch = self.ledger.epoch;
                self.steerers[at] = Steerer::Tell { control, epoch };
            }
            Steerer::Tell { .. } if self.fault(8) => self.steerers[at] = Steerer::Idle,
            Steerer::Tell { control, epoch } => {
                let (begin, end) = WINDOW;
                let set = self.redis.steer(epoch, control, begin, end);
                self.told_ended |= set && control == Control::Ended;
                self.steerers[at] = Steerer::Idle;
            }
        }
        self.note(|world| format!("steering operator {at}: {:?}", world.steerers[at]));
        true
    }

    /// What was not told to Redis, by a crash or in the moment of a rebuild, is told again.
    pub(crate) fn steer_again(&mut self) -> bool {
        let (control, epoch) = (self.ledger.control, self.ledger.epoch);
        if !self.redis.sale.as_ref().is_some_and(|sale| sale.state != control) {
            return false;
        }
        self.note(|_| format!("Redis is told {control:?} again"));
        self.redis.steer(epoch, control, WINDOW.0, WINDOW.1)
    }
}
