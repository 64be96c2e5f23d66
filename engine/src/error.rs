//! What the engine's callers see when a store fails. Texts are for logs; people get words from the server.

use std::time::Duration;

use crate::{kv::KvError, ledger::LedgerError};

/// A store failed. What was asked may or may not have been done; the same call again is always safe.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EngineError(#[from] Inner);

#[derive(Debug, thiserror::Error)]
enum Inner {
    #[error(transparent)]
    Kv(#[from] KvError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("no randomness: {0}")]
    Random(#[from] getrandom::Error),
    #[error("{0}")]
    Unready(&'static str),
    #[error("too fast, {} ms to wait", .0.as_millis())]
    TooFast(Duration),
}

impl EngineError {
    /// Whether the same call may work later: the server answers 503 then, and 500 otherwise.
    pub fn is_passing(&self) -> bool {
        match &self.0 {
            Inner::Kv(error) => error.trouble().is_some(),
            Inner::Ledger(error) => error.is_trouble(),
            Inner::Unready(_) | Inner::TooFast(_) => true,
            Inner::Random(_) => false,
        }
    }

    /// Refused because this person calls too often: how long to wait.
    pub const fn too_fast(&self) -> Option<Duration> {
        match self.0 {
            Inner::TooFast(wait) => Some(wait),
            _ => None,
        }
    }

    pub(crate) const fn wait(wait: Duration) -> Self {
        Self(Inner::TooFast(wait))
    }

    /// Whether the ledger is in trouble, and nothing else.
    pub(crate) const fn is_ledger_trouble(&self) -> bool {
        matches!(&self.0, Inner::Ledger(error) if error.is_trouble())
    }

    pub(crate) const fn unready(why: &'static str) -> Self {
        Self(Inner::Unready(why))
    }
}

impl From<KvError> for EngineError {
    fn from(error: KvError) -> Self {
        Self(error.into())
    }
}

impl From<LedgerError> for EngineError {
    fn from(error: LedgerError) -> Self {
        Self(error.into())
    }
}

impl From<getrandom::Error> for EngineError {
    fn from(error: getrandom::Error) -> Self {
        Self(error.into())
    }
}
