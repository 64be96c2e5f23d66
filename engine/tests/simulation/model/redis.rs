//! A sale's copy in Redis, and the scripts that touch it. Each method is one script of `lua/` by the same name.

use domain::Control;

use super::{Mutation, Order, User, stream::Stream};

/// The field of the claims that holds their epoch.
const EPOCH: User = 0;

/// What `grab.lua` says to one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Queued,
    OutOfStock,
    Already(Order),
    NotStarted,
    Ended,
    NotLoaded,
    Paused,
}

/// A step of `restock.lua`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Begin,
    Commit,
    Abort,
}

/// A hash from numbers to numbers; an empty one does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hash(pub(crate) Vec<(i64, i64)>);

impl Hash {
    pub(crate) fn get(&self, field: i64) -> Option<i64> {
        self.0.iter().find(|pair| pair.0 == field).map(|pair| pair.1)
    }

    pub(crate) fn set(&mut self, field: i64, value: i64) {
        match self.0.iter_mut().find(|pair| pair.0 == field) {
            Some(pair) => pair.1 = value,
            None => self.0.push((field, value)),
        }
    }

    pub(crate) fn remove(&mut self, field: i64) -> Option<i64> {
        let at = self.0.iter().position(|pair| pair.0 == field)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// The hash `seckill:sale:…`, missing where all of it is missing. One that is shut holds its epoch alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sale {
    pub(crate) epoch: Option<i64>,
    pub(crate) open: Option<Open>,
    pub(crate) initial: Option<i64>,
    /// Counts what moved units, so that two readings can be told apart.
    pub(crate) moves: Option<i64>,
    /// Changes of stock that are under way.
    pub(crate) changes: Hash,
}

/// What makes a sale sell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) state: Control,
    /// Counts the operators' commands.
    pub(crate) version: i64,
    /// The run of the Redis process that loaded it.
    pub(crate) run: u32,
}

/// What `load.lua` is given.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    pub(crate) epoch: i64,
    pub(crate) open: Open,
    pub(crate) initial: i64,
    pub(crate) stock: i64,
    pub(crate) claims: Vec<(User, Order)>,
}

/// Everything that Redis holds of one sale.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Redis {
    pub(crate) stock: Option<i64>,
    pub(crate) claims: Hash,
    pub(crate) sale: Sale,
    pub(crate) stream: Stream,
}

impl Sale {
    fn count_move(&mut self) {
        *self.moves.get_or_insert(0) += 1;
    }
}

impl Redis {
    /// The epoch and the run under which the whole sale is loaded.
    pub(crate) fn loaded(&self) -> Option<(i64, u32)> {
        let epoch = self.sale.epoch?;
        let whole = self.stock.is_some() && self.claims.get(EPOCH) == Some(epoch);
        Some((epoch, self.sale.open?.run)).filter(|_| whole)
    }

    /// Who holds which order.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (User, Order)> {
        self.claims.0.iter().copied().filter(|pair| pair.0 != EPOCH)
    }

    /// `grab.lua` at the time `now`.
    pub(crate) fn grab(
        &mut self,
        epoch: i64,
        attempts: &[(User, Order)],
        now: i64,
        mutation: Mutation,
    ) -> Vec<Reply> {
        let fenced = mutation != Mutation::NoEpochCheck;
        let known = self.sale.epoch == Some(epoch) && self.claims.get(EPOCH) == Some(epoch);
        let (Some(sale), Some(mut stock), true) = (self.sale.open, self.stock, known || !fenced) else {
            return vec![Reply::NotLoaded; attempts.len()];
        };
        let closed = if sale.state == Control::Ended || now >= sale.end {
            Some(Reply::Ended)
        } else if sale.state == Control::Paused {
            Some(Reply::Paused)
        } else {
            (now < sale.begin).then_some(Reply::NotStarted)
        };
        let mut replies = Vec::with_capacity(attempts.len());
        for (user, order) in attempts {
            let first = self.claims.get(*user);
            let reply = match (first, closed) {
                (Some(first), _) if mutation != Mutation::NoClaimCheck => Reply::Already(first),
                (_, Some(closed)) => closed,
                _ if stock <= 0 && mutation != Mutation::NoStockCheck => Reply::OutOfStock,
                _ => {
                    stock -= 1;
                    self.claims.set(*user, *order);
                    self.stream.add(*user, *order, epoch);
                    Reply::Queued
                }
            };
            replies.push(reply);
        }
        self.stock = Some(stock);
        if replies.contains(&Reply::Queued) {
            self.sale.count_move();
        }
        replies
    }

    /// `load.lua`: whether it loaded.
    pub(crate) fn load(&mut self, copy: &Copy) -> bool {
        if self.sale.epoch >= Some(copy.epoch) {
            return false;
        }
        self.stock = Some(copy.stock);
        self.claims = Hash(copy.claims.clone());
        self.claims.set(EPOCH, copy.epoch);
        self.sale = Sale {
            epoch: Some(copy.epoch),
            open: Some(copy.open),
            initial: Some(copy.initial),
            ..Sale::default()
        };
        true
    }

    /// `close.lua`: the place of the last entry (0: there is none); `None` where a later epoch is there.
    pub(crate) fn close(&mut self, epoch: i64) -> Option<u64> {
        if self.sale.epoch > Some(epoch) {
            return None;
        }
        self.sale = Sale {
            epoch: Some(epoch),
            ..Sale::default()
        };
        Some(self.stream.entries.last().map_or(0, |entry| entry.seq))
    }

    /// `give_back.lua`: whether this call gave it.
    pub(crate) fn give_back(
        &mut self,
        user: User,
        order: Order,
        instead: Option<Order>,
        mutation: Mutation,
    ) -> bool {
        if mutation != Mutation::GiveBackTwice && self.claims.get(user) != Some(order) {
            return false;
        }
        if let Some(stock) = &mut self.stock {
            *stock += 1;
            self.sale.count_move();
        }
        match instead {
            Some(live) => self.claims.set(user, live),
            None => _ = self.claims.remove(user),
        }
        true
    }

    /// `steer.lua`, its codes as numbers.
    pub(crate) fn steer(&mut self, epoch: i64, to: Open, mutation: Mutation) -> i64 {
        let (true, Some(open)) = (self.sale.epoch == Some(epoch), &mut self.sale.open) else {
            return 0;
        };
        if open.version > to.version && mutation != Mutation::SteersOutOfOrder {
            return 2;
        }
        *open = Open { run: open.run, ..to };
        1
    }

    /// `restock.lua`, its codes as numbers.
    pub(crate) fn restock(&mut self, step: Step, epoch: i64, change: i64, delta: i64) -> i64 {
        let sale = &mut self.sale;
        let (true, Some(stock)) = (sale.epoch == Some(epoch), &mut self.stock) else {
            return 5;
        };
        let noted = sale.changes.get(change).is_some();
        match step {
            Step::Begin if noted => return 0,
            Step::Begin if delta < 0 && *stock < -delta => return 2,
            Step::Begin => {
                sale.changes.set(change, delta);
                *stock += delta.min(0);
            }
            _ if !noted => return 0,
            Step::Commit => {
                sale.changes.remove(change);
                *sale.initial.get_or_insert(0) += delta;
                *stock += delta.max(0);
            }
            Step::Abort => {
                sale.changes.remove(change);
                *stock -= delta.min(0);
            }
        }
        sale.count_move();
        1
    }

    /// `requeue.lua`: whether the claim is still this order's, of the same epoch, and its entry queued again.
    pub(crate) fn requeue(&mut self, epoch: i64, user: User, order: Order) -> bool {
        let stands = self.claims.get(user) == Some(order) && self.claims.get(EPOCH) == Some(epoch);
        if stands {
            self.stream.add(user, order, epoch);
        }
        stands
    }
}
