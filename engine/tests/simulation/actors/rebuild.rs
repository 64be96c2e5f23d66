//! Rebuilding a sale's copy from the ledger: close, drain, raise the epoch and read, load. Point B. No lock here: the lock
//! only saves work, and a lock that was lost must do no harm.

use crate::{
    model::{Mutation, redis::Copy},
    world::{Loss, World},
};

/// A process that may rebuild.
#[derive(Debug, Clone)]
pub(crate) enum Rebuilder {
    Idle,
    /// Saw the ledger under this epoch.
    Close {
        epoch: i64,
    },
    /// Waits until the stream holds nothing up to this place.
    Drain {
        epoch: i64,
        last: u64,
        cuts: u32,
    },
    /// Raises the ledger's epoch from this one and reads.
    Raise {
        epoch: i64,
        cuts: u32,
    },
    Load {
        copy: Copy,
        cuts: u32,
    },
}

impl World {
    /// One rebuilder goes on. `false`: nothing to do, or it waits.
    pub(crate) fn step_rebuilder(&mut self, at: usize) -> bool {
        if !matches!(self.rebuilders[at], Rebuilder::Idle) && self.fault(5) {
            self.note(|world| format!("rebuilder {at} is killed before {:?}", world.rebuilders[at]));
            self.rebuilders[at] = Rebuilder::Idle;
            return true;
        }
        let next = match self.rebuilders[at].clone() {
            Rebuilder::Idle => match self.begin_rebuild() {
                Some(next) => next,
                None => return false,
            },
            Rebuilder::Close { epoch } => {
                let cuts = self.cuts;
                self.redis
                    .close(epoch)
                    .map_or(Rebuilder::Idle, |last| Rebuilder::Drain { epoch, last, cuts })
            }
            Rebuilder::Drain { epoch, last, cuts } => {
                if self.redis.stream.entries.iter().any(|entry| entry.seq <= last) {
                    return false;
                }
                Rebuilder::Raise { epoch, cuts }
            }
            Rebuilder::Raise { epoch, cuts } => {
                let read = if self.fault(5) {
                    None
                } else {
                    self.ledger.raise(epoch)
                };
                // The answer to the commit may be lost: raised, and nobody knows it.
                match read {
                    Some(copy) if !self.fault(5) => Rebuilder::Load { copy, cuts },
                    _ => Rebuilder::Idle,
                }
            }
            Rebuilder::Load { copy, cuts } => {
                if self.redis.load(&copy) {
                    self.mended = self.mended.max(cuts);
                }
                Rebuilder::Idle
            }
        };
        self.note(|world| format!("rebuilder {at}: {:?} -> {next:?}", world.rebuilders[at]));
        self.rebuilders[at] = next;
        true
    }

    /// Begins where something is missing, and now and then without need, as a person may.
    fn begin_rebuild(&mut self) -> Option<Rebuilder> {
        let needed = std::mem::take(&mut self.rebuild_wanted) || self.needs_rebuild();
        // Claims without entries would be forgotten: the sweeper goes first where a stream may be lost.
        let whim = self.loss != Loss::Stream && self.fault(10);
        if !needed && !whim {
            return None;
        }
        let epoch = self.ledger.epoch;
        Some(if self.mutation == Mutation::RebuildWithoutClose {
            let cuts = self.cuts;
            Rebuilder::Raise { epoch, cuts }
        } else {
            Rebuilder::Close { epoch }
        })
    }
}
