//! `grab.lua`: the one call that decides.

use domain::{OrderId, UserId, VoucherId};
use redis::{FromRedisValue, ParsingError, Value};

use super::{Kv, KvError};

/// What the script says to one attempt; its codes stand in the script's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrabReply {
    /// 0
    Queued,
    /// 1
    OutOfStock,
    /// 2
    AlreadyOrdered(OrderId),
    /// 3
    NotStarted,
    /// 4
    Ended,
    /// 5
    NotLoaded,
    /// 6
    Paused,
}

impl FromRedisValue for GrabReply {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        match value {
            Value::Int(0) => Ok(Self::Queued),
            Value::Int(1) => Ok(Self::OutOfStock),
            Value::Int(3) => Ok(Self::NotStarted),
            Value::Int(4) => Ok(Self::Ended),
            Value::Int(5) => Ok(Self::NotLoaded),
            Value::Int(6) => Ok(Self::Paused),
            Value::Array(_) => {
                let (code, id): (i64, String) = redis::from_redis_value(value)?;
                match (code, id.parse()) {
                    (2, Ok(id)) => Ok(Self::AlreadyOrdered(id)),
                    _ => Err(format!("grab.lua returned {{{code}, {id:?}}}").into()),
                }
            }
            other => Err(format!("grab.lua returned {other:?}").into()),
        }
    }
}

impl Kv {
    /// Runs the real script on a sale that nobody has: what a ping does not notice (R34), this does.
    pub(crate) async fn probe_grab(&self) -> Result<(), KvError> {
        let nowhere = VoucherId::new(i64::MAX).map_err(|error| KvError::Unexpected(error.to_string()))?;
        let replies = self.grab(nowhere, 0, &[]).await?;
        if replies.is_empty() {
            Ok(())
        } else {
            Err(KvError::Unexpected(format!("the probe got {replies:?}")))
        }
    }

    /// Decides `attempts` on one voucher in order. The answer has as many elements as there are attempts.
    /// On an error it is unknown which of them took effect; the same attempts again tell (code 2).
    pub(crate) async fn grab(
        &self,
        voucher: VoucherId,
        epoch: i64,
        attempts: &[(UserId, OrderId)],
    ) -> Result<Vec<GrabReply>, KvError> {
        let stream = self.keys.partition(voucher).stream();
        let mut call = self.scripts.grab.prepare_invoke();
        call.key(self.keys.stock(voucher))
            .key(self.keys.claims(voucher))
            .key(self.keys.sale(voucher))
            .key(stream)
            .arg(voucher.get())
            .arg(epoch);
        for (user, order) in attempts {
            call.arg(user.get()).arg(order.get());
        }
        let replies: Vec<GrabReply> = call.invoke_async(&mut self.hot.clone()).await?;
        if replies.len() == attempts.len() {
            Ok(replies)
        } else {
            Err(KvError::Unexpected(format!(
                "{} grabs got {} replies",
                attempts.len(),
                replies.len()
            )))
        }
    }
}
