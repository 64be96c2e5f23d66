//! Everything that is said to Redis: keys, scripts, stream, sessions. Knows nothing of the ledger.

mod client;
mod codes;
mod dead;
mod error;
mod give_back;
mod grab;
mod keys;
mod load;
mod lock;
mod news;
mod order_ids;
mod preflight;
mod rate;
mod repair;
mod restock;
mod sessions;
mod steer;
mod stream;
mod view;
mod vitals;

pub(crate) use client::{Kv, KvSettings};
pub(crate) use codes::CodeIssue;
pub(crate) use dead::{Letter, LetterId, ReplayReply};
pub(crate) use error::{KvError, Trouble};
pub(crate) use grab::GrabReply;
pub(crate) use keys::{Keys, Partition};
pub(crate) use load::{CloseReply, SaleCopy};
pub(crate) use lock::LockReply;
pub(crate) use news::News;
pub(crate) use restock::{RestockReply, RestockStep};
pub(crate) use sessions::TokenHash;
pub(crate) use stream::{Dead, Entry, EntryId, HELD, Payload, StreamReader};
pub(crate) use view::{SaleMark, SaleView};
