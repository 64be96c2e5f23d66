//! The flash-sale engine: one Lua script decides, a stream carries, a consumer group settles into the ledger.
//!
//! `kv` says everything to Redis, `ledger` everything to PostgreSQL; neither knows the other. The use cases and the
//! consumer join them. [`Engine`] is the only way in, for the server and for the pages alike.

mod accounts;
mod catalogue;
mod clock;
mod consumer;
mod crowd;
mod dead;
mod drafts;
mod edits;
mod engine;
mod error;
mod events;
mod failpoint;
mod grab;
mod guardian;
mod kv;
mod ledger;
mod locks;
mod metrics;
mod order_ids;
mod orders;
mod overview;
mod rate;
mod sales;
mod settings;
#[cfg(any(test, feature = "testing"))]
#[expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test whose surroundings can not be made is to fail loudly"
)]
pub mod testing;

pub use accounts::{CodeSent, LogInError, Session, SessionToken};
pub use clock::{Clock, SystemClock};
pub use consumer::{PassReport, Worker};
pub use dead::{DeadLetter, LetterOutcome};
pub use edits::EditError;
pub use engine::{Engine, Finding, PoolState, Readiness};
pub use error::EngineError;
pub use events::{Board, BoardSale, Live, LiveOrder};
pub use failpoint::FailPoints;
pub use guardian::{GuardReport, Guardian};
pub use ledger::{
    audit::AuditLine,
    search::{FoundOrder, OrderSearch},
};
pub use overview::{Overview, SaleSum, StreamState};
pub use rate::{Rate, Rates};
pub use sales::{PublishError, SteerError};
pub use settings::{EngineSettings, SettingsError};

/// A random number, for names and for spreading things in time.
pub fn chance() -> Result<u32, EngineError> {
    Ok(getrandom::u32()?)
}
