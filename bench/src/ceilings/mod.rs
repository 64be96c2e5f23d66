//! How fast each part could be alone, so that results are ratios and not numbers from one machine.

mod ledger;
mod routes;
mod script;

pub(crate) use ledger::a6_ledger;
pub(crate) use routes::{Ceiling, serve};
pub(crate) use script::{a3_a4_script, a5_fsync};
