//! `load.lua` and `close.lua`: a sale's copy in Redis appears whole, or not at all.

use domain::{Control, OrderId, SaleWindow, UserId, VoucherId};

use super::{EntryId, Kv, KvError};

/// Claims sent in one command while a copy is being staged.
const CLAIMS_A_CALL: usize = 2000;
/// Claims staged by a process that died meanwhile vanish after this.
const STAGED_SECONDS: i64 = 300;

/// A sale as the ledger has it, for Redis.
#[derive(Debug, Clone)]
pub(crate) struct SaleCopy {
    pub(crate) voucher: VoucherId,
    pub(crate) epoch: i64,
    /// Counts the operators' changes.
    pub(crate) version: i64,
    pub(crate) window: SaleWindow,
    pub(crate) control: Control,
    /// Units published, with later changes.
    pub(crate) initial: i64,
    /// Units left.
    pub(crate) stock: i64,
    /// Live orders: who holds which.
    pub(crate) claims: Vec<(UserId, OrderId)>,
}

/// What `close.lua` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseReply {
    /// Shut; whatever the stream holds up to this entry was decided before.
    Closed(EntryId),
    /// A later epoch is loaded: somebody else rebuilt already.
    Newer,
}

impl Kv {
    /// Loads the copy unless its epoch or a later one is loaded or shut already. Returns whether it did.
    pub(crate) async fn load(&self, copy: &SaleCopy) -> Result<bool, KvError> {
        let mut con = self.calm.clone();
        let run = self.run_id().await?;
        let nonce = super::order_ids::nonce()?;
        let staged = self.keys.staged_claims(copy.voucher, nonce);
        for claims in copy.claims.chunks(CLAIMS_A_CALL) {
            let fields: Vec<(i64, i64)> = claims
                .iter()
                .map(|(user, order)| (user.get(), order.get()))
                .collect();
            redis::pipe()
                .hset_multiple(&staged, &fields)
                .ignore()
                .expire(&staged, STAGED_SECONDS)
                .ignore()
                .exec_async(&mut con)
                .await?;
        }
        let loaded: i64 = self
            .scripts
            .load
            .key(self.keys.stock(copy.voucher))
            .key(self.keys.claims(copy.voucher))
            .key(self.keys.sale(copy.voucher))
            .key(&staged)
            .arg(copy.epoch)
            .arg(copy.window.begins_at.millis())
            .arg(copy.window.ends_at.millis())
            .arg(copy.control.word())
            .arg(copy.initial)
            .arg(copy.stock)
            .arg(copy.version)
            .arg(run)
            .arg(if copy.claims.is_empty() { "" } else { "staged" })
            .invoke_async(&mut con)
            .await?;
        match loaded {
            1 => Ok(true),
            0 => {
                redis::cmd("UNLINK").arg(&staged).exec_async(&mut con).await?;
                Ok(false)
            }
            code => Err(KvError::Unexpected(format!("load.lua returned {code}"))),
        }
    }

    /// Shuts the sale under `epoch` or an earlier one: grabs answer "not loaded" from here on.
    pub(crate) async fn close(&self, voucher: VoucherId, epoch: i64) -> Result<CloseReply, KvError> {
        let (code, last): (i64, String) = self
            .scripts
            .close
            .key(self.keys.sale(voucher))
            .key(self.keys.partition(voucher).stream())
            .arg(epoch)
            .invoke_async(&mut self.calm.clone())
            .await?;
        match code {
            1 => Ok(CloseReply::Closed(last.parse()?)),
            0 => Ok(CloseReply::Newer),
            code => Err(KvError::Unexpected(format!("close.lua returned {code}"))),
        }
    }
}
