//! The stores, each call to them one atomic step: Redis' scripts and stream, and the ledger's transactions.

pub(crate) mod ledger;
pub(crate) mod redis;
pub(crate) mod stream;

/// A user's id. No user has the id 0.
pub(crate) type User = i64;
/// An order's id.
pub(crate) type Order = i64;

/// A rule that is broken on purpose, to see that the checks notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// All rules hold.
    None,
    /// The script does not look for an earlier order of the user.
    NoClaimCheck,
    /// The script does not look at the stock.
    NoStockCheck,
    /// The script takes any epoch, of the caller and of the claims.
    NoEpochCheck,
    /// Entries are acknowledged before the transaction.
    AckBeforeCommit,
    /// A give-back does not look whether it was made already.
    GiveBackTwice,
    /// A rebuild neither closes the sale nor drains the stream first.
    RebuildWithoutClose,
    /// A rebuild raises the epoch though somebody raised it after the sale was shut.
    RaiseBlindly,
    /// A rebuild forgets claims that have neither entry nor row.
    ForgetOrphans,
    /// A settle confirms orders that were queued under an epoch which a rebuild has left behind.
    StaleOrdersConfirmed,
    /// Recovery undoes a change of stock without a mark in the ledger that stops its operator.
    RecoveryOnlyLooks,
    /// An operator's older command may undo a newer one in Redis.
    SteersOutOfOrder,
}
