//! `give_back.lua`: a unit returns exactly once.

use domain::{OrderId, UserId, VoucherId};

use super::{Kv, KvError};

impl Kv {
    /// Gives back the unit of `order`, which failed for certain. `instead` is the live order that the user holds.
    /// Returns whether this call did it: a repeat is a no-op.
    pub(crate) async fn give_back(
        &self,
        voucher: VoucherId,
        user: UserId,
        order: OrderId,
        instead: Option<OrderId>,
    ) -> Result<bool, KvError> {
        let code: i64 = self
            .scripts
            .give_back
            .key(self.keys.stock(voucher))
            .key(self.keys.claims(voucher))
            .key(self.keys.sale(voucher))
            .arg(user.get())
            .arg(order.get())
            .arg(instead.map_or_else(String::new, |id| id.to_string()))
            .invoke_async(&mut self.calm.clone())
            .await?;
        match code {
            1 => Ok(true),
            0 => Ok(false),
            code => Err(KvError::Unexpected(format!("give_back.lua returned {code}"))),
        }
    }
}
