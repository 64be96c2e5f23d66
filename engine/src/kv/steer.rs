//! `steer.lua`: pause, resume, end.

use domain::{Control, SaleWindow, VoucherId};

use super::{Kv, KvError};

impl Kv {
    /// Brings state and window to what the ledger said in `version`, unless a later one is set. `false`: not loaded
    /// under this epoch, nothing changed.
    pub(crate) async fn steer(
        &self,
        voucher: VoucherId,
        epoch: i64,
        version: i64,
        control: Control,
        window: SaleWindow,
    ) -> Result<bool, KvError> {
        let code: i64 = self
            .scripts
            .steer
            .key(self.keys.sale(voucher))
            .arg(epoch)
            .arg(version)
            .arg(control.word())
            .arg(window.begins_at.millis())
            .arg(window.ends_at.millis())
            .invoke_async(&mut self.calm.clone())
            .await?;
        match code {
            // A later version is there: what the ledger says now, or will be told in a moment.
            1 | 2 => Ok(true),
            0 => Ok(false),
            code => Err(KvError::Unexpected(format!("steer.lua returned {code}"))),
        }
    }
}
