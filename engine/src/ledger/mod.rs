//! Everything that is said to PostgreSQL, in checked queries. Free functions over an executor or a transaction;
//! transactions begin and end in the use cases and the consumer. Knows nothing of Redis.

pub(crate) mod accounts;
pub(crate) mod audit;
mod error;
pub(crate) mod orders;
pub(crate) mod sales;
pub(crate) mod search;
pub(crate) mod settle;
pub(crate) mod stock;
mod store;
pub(crate) mod sums;
pub(crate) mod vitals;

pub(crate) use error::LedgerError;
pub(crate) use store::{Ledger, LedgerSettings, Transaction};
