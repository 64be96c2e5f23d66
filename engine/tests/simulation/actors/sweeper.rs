//! The sweeper: claims with neither entry nor order are queued again, failed ones are given back.

use crate::{
    model::{Order, User},
    world::{Loss, World},
};

/// What a sweep has still to look at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sweeper {
    epoch: i64,
    orphans: Vec<(User, Order)>,
}

impl World {
    /// Looks for claims without entries, or looks one of them up and mends it. `false`: nothing to do.
    pub(crate) fn step_sweeper(&mut self) -> bool {
        if self.loss != Loss::Stream {
            return false;
        }
        let Some((user, order)) = self.sweeper.orphans.pop() else {
            return self.look_for_orphans();
        };
        match self.ledger.row(order).map(|row| row.failed.is_some()) {
            None => _ = self.redis.requeue(self.sweeper.epoch, user, order),
            Some(true) => {
                let live = self.ledger.live_of(user);
                self.redis.give_back(user, order, live, self.mutation);
            }
            Some(false) => return true,
        }
        self.note(|_| format!("the sweeper mends order {order} of user {user}"));
        true
    }

    fn look_for_orphans(&mut self) -> bool {
        let Some((epoch, _)) = self.redis.loaded() else {
            return false;
        };
        let entries = &self.redis.stream.entries;
        let lost = |claim: &(User, Order)| !entries.iter().any(|entry| entry.order == claim.1);
        let orphans: Vec<_> = self
            .redis
            .holders()
            .filter(lost)
            .filter(|claim| self.ledger.live_of(claim.0) != Some(claim.1))
            .collect();
        self.sweeper = Sweeper { epoch, orphans };
        !self.sweeper.orphans.is_empty()
    }
}
