//! The ledger: one sale, its orders and its changes of stock. Each method is one transaction that committed.

use domain::Control;

use super::{
    Mutation, Order, User,
    redis::{Copy, Open},
    stream::Entry,
};

/// Begin and end of the sale: the clock plays no part here.
const WINDOW: (i64, i64) = (1, 4_000_000_000_000);

/// Why an order failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    NoStock,
    Duplicate,
    Rejected,
    /// Queued under an epoch that a rebuild has left behind.
    Stale,
}

/// A row of `voucher_order`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) order: Order,
    pub(crate) user: User,
    /// `None`: confirmed.
    pub(crate) failed: Option<Reason>,
}

/// What became of a queued order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Confirmed,
    Settled,
    Failed { instead: Option<Order> },
    Unwritable,
}

/// Everything that the database holds of one sale.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    /// Units published, with later changes.
    pub(crate) units: i64,
    pub(crate) stock: i64,
    pub(crate) epoch: i64,
    /// Fencing number of the last rebuild.
    pub(crate) fence: i64,
    /// Counts the operators' changes.
    pub(crate) version: i64,
    pub(crate) control: Control,
    pub(crate) rows: Vec<Row>,
    pub(crate) changes: Vec<i64>,
    /// The orders of this user break a constraint.
    pub(crate) refused: User,
}

impl Ledger {
    pub(crate) const fn new(units: i64, refused: User) -> Self {
        Self {
            units,
            stock: units,
            epoch: 1,
            fence: 0,
            version: 0,
            control: Control::Running,
            rows: Vec::new(),
            changes: Vec::new(),
            refused,
        }
    }

    pub(crate) fn row(&self, order: Order) -> Option<&Row> {
        self.rows.iter().find(|row| row.order == order)
    }

    pub(crate) fn live(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.failed.is_none())
    }

    pub(crate) fn live_of(&self, user: User) -> Option<Order> {
        self.live().find(|row| row.user == user).map(|row| row.order)
    }

    /// `settle`; `None` where the batch is refused as a whole.
    pub(crate) fn settle(&mut self, batch: &[Entry], mutation: Mutation) -> Option<Vec<Fate>> {
        let refused = |entry: &Entry| entry.user == self.refused && self.row(entry.order).is_none();
        if batch.iter().any(refused) {
            return None;
        }
        // First whatever the constraints let in, then units for these in order.
        let first_new = self.rows.len();
        for entry in batch {
            let stale = entry.epoch < self.epoch && mutation != Mutation::StaleOrdersConfirmed;
            if !stale && self.row(entry.order).is_none() && self.live_of(entry.user).is_none() {
                self.rows.push(Row {
                    order: entry.order,
                    user: entry.user,
                    failed: None,
                });
            }
        }
        for row in &mut self.rows[first_new..] {
            if self.stock > 0 {
                self.stock -= 1;
            } else {
                row.failed = Some(Reason::NoStock);
            }
        }
        let mut fates = Vec::with_capacity(batch.len());
        for entry in batch {
            let instead = self.live_of(entry.user);
            let fate = match self.rows.iter().position(|row| row.order == entry.order) {
                // No unit was left for a new one; nothing else of its user can be alive.
                Some(at) if self.rows[at].failed.is_some() => Fate::Failed { instead },
                Some(at) if at >= first_new => Fate::Confirmed,
                Some(_) => Fate::Settled,
                None => {
                    let reason = match instead {
                        Some(_) => Reason::Duplicate,
                        None if entry.epoch < self.epoch => Reason::Stale,
                        None => Reason::Rejected,
                    };
                    self.write_failed(entry, reason);
                    Fate::Failed { instead }
                }
            };
            fates.push(fate);
        }
        Some(fates)
    }

    fn write_failed(&mut self, entry: &Entry, reason: Reason) {
        self.rows.push(Row {
            order: entry.order,
            user: entry.user,
            failed: Some(reason),
        });
    }

    /// `reject`: a failed row for an order that was refused by itself.
    pub(crate) fn reject(&mut self, entry: &Entry) -> Fate {
        if self.row(entry.order).is_some() {
            return Fate::Unwritable;
        }
        self.write_failed(entry, Reason::Rejected);
        Fate::Failed { instead: None }
    }

    /// Raises the epoch above `newest` for a holder of the rebuild lock, and reads the sale as it is under the new one.
    pub(crate) fn raise(&mut self, newest: i64, fence: i64, mutation: Mutation) -> bool {
        let overtaken = self.epoch > newest && mutation != Mutation::RaiseBlindly;
        if self.fence >= fence || overtaken {
            return false;
        }
        (self.epoch, self.fence) = (self.epoch.max(newest) + 1, fence);
        true
    }

    /// What operators said last.
    pub(crate) const fn steering(&self) -> Open {
        Open {
            begin: WINDOW.0,
            end: WINDOW.1,
            state: self.control,
            version: self.version,
            run: 0,
        }
    }

    /// The sale, for the Redis of this run.
    pub(crate) fn copy(&self) -> Copy {
        Copy {
            epoch: self.epoch,
            open: self.steering(),
            initial: self.units,
            stock: self.stock,
            claims: self.live().map(|row| (row.user, row.order)).collect(),
        }
    }

    /// `steer`: an operator's command.
    pub(crate) fn steer(&mut self, control: Control) {
        if self.control != control {
            self.control = control;
            self.version += 1;
        }
    }

    /// `stock::change`, if the sale is as the caller saw it.
    pub(crate) fn change(&mut self, change: i64, (epoch, version): (i64, i64), delta: i64) -> bool {
        if (self.epoch, self.version) != (epoch, version) || self.stock + delta < 0 {
            return false;
        }
        self.stock += delta;
        self.units += delta;
        self.version += 1;
        self.changes.push(change);
        true
    }
}
