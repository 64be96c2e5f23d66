//! What must hold: after each step, at rest, and when everybody who has nothing yet asks once more.

use domain::Control;

use crate::{
    actors::{
        operators::{Restocker, Steerer},
        rebuild::Task,
        web::Web,
        worker::Worker,
    },
    model::{ledger::Reason, redis::Reply},
    world::{Loss, World},
};

/// Rounds in which all is to be at rest once the faults have ended (I9); a few dozen are usual.
const ROUNDS: u32 = 400;

impl World {
    /// I1: never a unit too many, in either store, and the ledger adds up by itself. I2: one live order a user.
    pub(crate) fn check_always(&mut self) {
        let live = self.ledger.live().count();
        let stock = self.ledger.stock;
        if stock < 0 || i64::try_from(live) != Ok(self.ledger.units - stock) {
            self.breaks(|world| format!("I1: the ledger holds {live} orders of {:?}", world.ledger));
        }
        if self.redis.stock.is_some_and(|stock| stock < 0) {
            self.breaks(|world| format!("I1: {:?} units in Redis", world.redis.stock));
        }
        for user in 1..=self.users {
            if self.ledger.live().filter(|row| row.user == user).count() > 1 {
                self.breaks(|_| format!("I2: user {user} holds two live orders"));
            }
        }
    }

    /// The faults end; everybody finishes, and the books are looked at.
    pub(crate) fn calm_down(&mut self) {
        self.calm = true;
        self.note(|_| "the faults end".to_owned());
        self.come_to_rest();
        if self.broken.is_none() {
            self.check_at_rest();
        }
        if self.broken.is_none() {
            self.ask_once_more();
        }
    }

    fn come_to_rest(&mut self) {
        for _ in 0..ROUNDS {
            if self.broken.is_some() || self.at_rest() {
                return;
            }
            for web in 0..self.webs.len() {
                self.advance_web(web);
            }
            self.step_late();
            if self.restocker != Restocker::Idle {
                self.step_restocker();
            }
            for at in 0..self.steerers.len() {
                if self.steerers[at] != Steerer::Idle {
                    self.step_steerer(at);
                }
            }
            self.recover_changes();
            self.steer_again();
            self.step_sweeper();
            for at in 0..self.workers.len() {
                self.step_worker(at);
            }
            for at in 0..self.rebuilders.len() {
                self.step_rebuilder(at);
            }
            self.check_always();
        }
        self.breaks(|world| format!("I9: no rest: {:?}", world.redis));
    }

    fn at_rest(&self) -> bool {
        self.redis.stream.entries.is_empty()
            && !self.needs_rebuild()
            && self.is_steered()
            && self.redis.sale.changes.0.is_empty()
            && (self.recovery.is_none() && self.resteer.is_none())
            && self.workers.iter().all(Worker::rests)
            && self.webs.iter().all(Web::rests)
            && self.late.is_empty()
            && self.restocker == Restocker::Idle
            && self.steerers.iter().all(|one| *one == Steerer::Idle)
            && self.rebuilders.iter().all(|one| matches!(one.task, Task::Rest))
            && (self.loss != Loss::Stream || self.redis.holders().count() == self.ledger.live().count())
    }

    fn check_at_rest(&mut self) {
        let pending = self.redis.stream.pending();
        if pending > 0 {
            self.breaks(|_| format!("I9: {pending} entries stay pending"));
        }
        // With nothing in flight both stores hold the same units (I5), so each give-back was made once (I4).
        if self.redis.stock != Some(self.ledger.stock) {
            self.breaks(|world| {
                format!(
                    "I5: {:?} units in Redis, {} in the ledger",
                    world.redis.stock, world.ledger.stock
                )
            });
        }
        let told = self.redis.sale.initial;
        if told != Some(self.ledger.units) {
            self.breaks(|world| format!("I5: {told:?} units published, {}", world.ledger.units));
        }
        let mut claims: Vec<_> = self.redis.holders().collect();
        let mut live: Vec<_> = self.ledger.live().map(|row| (row.user, row.order)).collect();
        claims.sort_unstable();
        live.sort_unstable();
        if claims != live {
            self.breaks(|_| format!("I4: claims {claims:?}, live orders {live:?}"));
        }
        if let Some(invented) = live.iter().find(|order| !self.granted.contains(order)) {
            self.breaks(|_| format!("I6: {invented:?} was never granted"));
        }
        self.check_promises();
    }

    /// What shoppers saw accepted is an order or a failure that they are told of (I3), and fails only where it must.
    fn check_promises(&mut self) {
        let forgetful = matches!(self.loss, Loss::Tail | Loss::All);
        if forgetful {
            return;
        }
        for at in 0..self.accepted.len() {
            let (user, order) = self.accepted[at];
            if self.ledger.row(order).is_none_or(|row| row.user != user) {
                self.breaks(|_| format!("I3: order {order} of user {user} is neither order nor failure"));
            }
        }
        let refused = self.ledger.refused;
        let excused = |user, reason| user == refused && reason == Reason::Rejected;
        let rows = &self.ledger.rows;
        let failed = rows
            .iter()
            .find(|row| row.failed.is_some_and(|reason| !excused(row.user, reason)))
            .copied();
        if let Some(row) = failed {
            self.breaks(|_| format!("I2: the script gave a unit that was none: {row:?}"));
        }
    }

    /// I10: a unit that is left is sold to whoever asks, and nobody else gets one.
    fn ask_once_more(&mut self) {
        if self.ended() {
            return;
        }
        self.ledger.steer(Control::Running);
        let epoch = self.ledger.epoch;
        self.redis.steer(epoch, self.ledger.steering(), self.mutation);
        let mut left = self.ledger.stock;
        for user in 1..=self.users {
            if user == self.ledger.refused {
                continue;
            }
            let order = self.mint();
            let reply = self.grab(epoch, &[(user, order)])[0];
            let right = match self.ledger.live_of(user) {
                Some(live) => Reply::Already(live),
                None if left > 0 => {
                    left -= 1;
                    Reply::Queued
                }
                None => Reply::OutOfStock,
            };
            if reply != right {
                self.breaks(|_| format!("I10: user {user} is told {reply:?} and not {right:?}"));
            }
        }
        self.come_to_rest();
        if self.ledger.stock != left {
            self.breaks(|world| format!("I10: {} units stay unsold, not {left}", world.ledger.stock));
        }
        self.check_at_rest();
    }
}
