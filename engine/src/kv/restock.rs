//! `restock.lua`: units come and go while a sale runs, in step with the ledger.

use domain::VoucherId;

use super::{Kv, KvError};

/// The steps around the ledger's commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestockStep {
    /// Before: notes the change, takes what leaves.
    Begin,
    /// After: adds what comes.
    Commit,
    /// The ledger refused: returns what was taken.
    Abort,
}

/// What the script says; its codes stand in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestockReply {
    /// 1
    Done,
    /// 0
    AlreadyDone,
    /// 2
    TooFewLeft,
    /// 5
    NotLoaded,
}

impl Kv {
    /// Makes one step of the change `change`. Each step takes effect once, however often it is called.
    pub(crate) async fn restock(
        &self,
        step: RestockStep,
        voucher: VoucherId,
        epoch: i64,
        change: i64,
        delta: i32,
    ) -> Result<RestockReply, KvError> {
        let step = match step {
            RestockStep::Begin => "begin",
            RestockStep::Commit => "commit",
            RestockStep::Abort => "abort",
        };
        let code: i64 = self
            .scripts
            .restock
            .key(self.keys.stock(voucher))
            .key(self.keys.sale(voucher))
            .arg(step)
            .arg(epoch)
            .arg(change)
            .arg(delta)
            .invoke_async(&mut self.calm.clone())
            .await?;
        match code {
            1 => Ok(RestockReply::Done),
            0 => Ok(RestockReply::AlreadyDone),
            2 => Ok(RestockReply::TooFewLeft),
            5 => Ok(RestockReply::NotLoaded),
            code => Err(KvError::Unexpected(format!("restock.lua returned {code}"))),
        }
    }
}
