//! Shoppers and the web processes that they ask. Points P1 to P4.

use crate::{
    model::{Order, User, redis::Reply},
    world::{Loss, World},
};

/// Asks of one client in a schedule.
const TRIES: u8 = 4;
/// A moment within the sale's window.
const NOW: i64 = 1_800_000_000_000;

/// A browser tab of a user.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    user: User,
    asks: u8,
    waiting: bool,
    /// Counts asks: an answer to an earlier one finds nobody.
    ticket: u32,
}

/// A web process.
#[derive(Debug, Clone)]
pub(crate) struct Web {
    up: bool,
    /// The epoch that its catalogue knows.
    epoch: i64,
    /// Asks that wait for the next call: client, ticket.
    queue: Vec<(usize, u32)>,
    call: Option<Call>,
}

/// One call of the script.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    epoch: i64,
    asks: Vec<(usize, u32)>,
    attempts: Vec<(User, Order)>,
    replies: Option<Vec<Reply>>,
    /// It is the second try, under a renewed epoch.
    again: bool,
}

impl Client {
    pub(crate) const fn new(user: User) -> Self {
        Self {
            user,
            asks: 0,
            waiting: false,
            ticket: 0,
        }
    }
}

impl Web {
    pub(crate) const fn new(epoch: i64) -> Self {
        Self {
            up: true,
            epoch,
            queue: Vec::new(),
            call: None,
        }
    }

    /// Whether it has nothing under way.
    pub(crate) const fn rests(&self) -> bool {
        self.up && self.queue.is_empty() && self.call.is_none()
    }
}

impl World {
    /// Some client asks some web process, or gives up waiting.
    pub(crate) fn step_client(&mut self) -> bool {
        let at = self.rng.usize(..self.clients.len());
        let web = self.rng.usize(..self.webs.len());
        let client = &mut self.clients[at];
        if client.waiting {
            // A time-out is rarer than patience.
            if self.rng.u8(..4) > 0 {
                return false;
            }
            client.waiting = false;
            client.ticket += 1;
            self.note(|_| format!("client {at} gives up waiting"));
            return true;
        }
        if client.asks >= TRIES || !self.webs[web].up {
            return false;
        }
        (client.asks, client.ticket, client.waiting) = (client.asks + 1, client.ticket + 1, true);
        self.webs[web].queue.push((at, client.ticket));
        self.note(|world| format!("client {at} (user {}) asks web {web}", world.clients[at].user));
        true
    }

    /// Some web process goes on.
    pub(crate) fn step_web(&mut self) -> bool {
        let at = self.one_of_two();
        self.advance_web(at)
    }

    /// One web process goes on: starts, renews, calls, answers, or dies.
    pub(crate) fn advance_web(&mut self, at: usize) -> bool {
        if !self.webs[at].up {
            self.webs[at] = Web::new(self.ledger.epoch);
            self.note(|world| format!("web {at} starts, knows epoch {}", world.webs[at].epoch));
            return true;
        }
        if self.fault(4) {
            self.kill_web(at);
            return true;
        }
        if self.fault(6) {
            self.webs[at].epoch = self.ledger.epoch;
            self.note(|world| format!("web {at} renews, knows epoch {}", world.webs[at].epoch));
            return true;
        }
        match self.webs[at].call.take() {
            None if self.webs[at].queue.is_empty() => false,
            None => {
                let asks = std::mem::take(&mut self.webs[at].queue);
                let call = self.prepare(at, asks, false);
                self.webs[at].call = Some(call);
                true
            }
            Some(call) if call.replies.is_none() => {
                if self.fault(6) {
                    self.note(|_| format!("web {at}: no answer from Redis in time"));
                    self.hang_up(&call.asks);
                    self.late.push(call);
                } else {
                    self.webs[at].call = Some(self.execute(call));
                }
                true
            }
            Some(call) => {
                self.answer(at, &call);
                true
            }
        }
    }

    /// A call whose caller is gone reaches Redis after all.
    pub(crate) fn step_late(&mut self) -> bool {
        let Some(call) = self.late.pop() else {
            return false;
        };
        self.note(|_| "a late call arrives".to_owned());
        self.execute(call);
        true
    }

    fn prepare(&mut self, web: usize, asks: Vec<(usize, u32)>, again: bool) -> Call {
        let mut attempts = Vec::with_capacity(asks.len());
        for (client, _) in &asks {
            attempts.push((self.clients[*client].user, self.mint()));
        }
        self.note(|_| format!("web {web} sends {attempts:?}"));
        Call {
            epoch: self.webs[web].epoch,
            asks,
            attempts,
            replies: None,
            again,
        }
    }

    fn execute(&mut self, mut call: Call) -> Call {
        let replies = self.grab(call.epoch, &call.attempts);
        call.replies = Some(replies);
        call
    }

    /// The script runs.
    pub(crate) fn grab(&mut self, epoch: i64, attempts: &[(User, Order)]) -> Vec<Reply> {
        let replies = self.redis.grab(epoch, attempts, NOW, self.mutation);
        self.note(|_| format!("grab under epoch {epoch}: {attempts:?} -> {replies:?}"));
        for (attempt, reply) in attempts.iter().zip(&replies) {
            if *reply == Reply::Queued {
                self.granted.push(*attempt);
                // A copy that lost its tail may say that the sale still runs, until that is noticed.
                if self.told_ended && self.loss != Loss::Tail {
                    self.breaks(|_| format!("I11: {attempt:?} was granted after the end"));
                }
            }
        }
        replies
    }

    fn answer(&mut self, web: usize, call: &Call) {
        let replies = call.replies.as_deref().unwrap_or_default();
        if !call.again && replies.contains(&Reply::NotLoaded) && self.ledger.epoch != call.epoch {
            // Perhaps the sale was rebuilt elsewhere: once more, under what the ledger says.
            self.webs[web].epoch = self.ledger.epoch;
            let again = self.prepare(web, call.asks.clone(), true);
            self.webs[web].call = Some(again);
            return;
        }
        if self.fault(5) {
            self.note(|_| format!("web {web}: the answer is lost on the way to the shoppers"));
            self.hang_up(&call.asks);
            return;
        }
        for (((client, ticket), attempt), reply) in call.asks.iter().zip(&call.attempts).zip(replies) {
            let heard = &mut self.clients[*client];
            if heard.ticket != *ticket {
                continue;
            }
            heard.waiting = false;
            match reply {
                Reply::Queued => self.accepted.push(*attempt),
                Reply::Already(order) => self.accepted.push((attempt.0, *order)),
                _ => {}
            }
        }
        self.note(|_| format!("web {web} answers {replies:?}"));
    }

    fn kill_web(&mut self, at: usize) {
        let web = &mut self.webs[at];
        web.up = false;
        let queue = std::mem::take(&mut web.queue);
        let call = web.call.take();
        self.hang_up(&queue);
        let mut point = "P0";
        if let Some(call) = call {
            self.hang_up(&call.asks);
            point = if call.replies.is_some() { "P2" } else { "P1" };
            // What was written to the socket may be read by Redis though the writer is dead.
            if call.replies.is_none() && self.rng.bool() {
                self.late.push(call);
            }
        }
        self.note(|_| format!("web {at} is killed at {point}"));
    }

    /// Those who waited for these answers learn nothing.
    fn hang_up(&mut self, asks: &[(usize, u32)]) {
        for (client, ticket) in asks {
            let client = &mut self.clients[*client];
            if client.ticket == *ticket {
                client.waiting = false;
            }
        }
    }
}
