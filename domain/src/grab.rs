//! The answer to a grab.

use serde::{Deserialize, Serialize};

use crate::OrderId;

/// Everything that a grab can be answered with. Refusals are values: only a broken store is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum GrabOutcome {
    /// A unit is yours; the ledger confirms it shortly.
    Queued {
        /// The order's id, the same everywhere from now on.
        order_id: OrderId,
    },
    /// You had one already: the id is the first order's.
    AlreadyOrdered {
        /// The first order's id.
        order_id: OrderId,
    },
    /// No unit is left.
    SoldOut,
    /// The window has not opened.
    NotStarted,
    /// The window has closed, or an operator ended the sale.
    Ended,
    /// An operator paused the sale.
    Paused,
    /// Redis does not hold the sale as the ledger knows it; it is being loaded. Never "sold out".
    NotReady,
    /// Too many attempts by this shopper.
    RateLimited {
        /// After how many milliseconds the next attempt is taken.
        retry_after_ms: u64,
    },
    /// Too much is waiting, or the answer did not arrive. If a unit was taken it is kept: the same call again tells.
    Busy,
    /// There is no such sale.
    UnknownVoucher,
}
