//! Order ids in the classic layout, minted from leased blocks of the day's counter.

use std::sync::Arc;

use domain::{OrderId, Timestamp};
use tokio::sync::Mutex;

use crate::{Clock, EngineError, kv::Kv};

/// Mints ids. Two ids meet only if they share a second and a number; numbers of one day are leased once, and a lease is
/// used on its own day only.
pub(crate) struct OrderIds {
    kv: Kv,
    clock: Arc<dyn Clock>,
    block: u32,
    lease: Mutex<Lease>,
}

#[derive(Default)]
struct Lease {
    day: (i32, u8, u8),
    next: u32,
    left: u32,
}

impl OrderIds {
    /// Leases `block` numbers at once.
    pub(crate) fn new(kv: Kv, clock: Arc<dyn Clock>, block: u32) -> Self {
        Self {
            kv,
            clock,
            block,
            lease: Mutex::default(),
        }
    }

    /// Mints `n` ids, at most a block.
    pub(crate) async fn mint(&self, n: usize) -> Result<Vec<OrderId>, EngineError> {
        let mut lease = self.lease.lock().await;
        let now = self.clock.now();
        let n = u32::try_from(n).unwrap_or(u32::MAX).min(self.block);
        if lease.day != now.day() || lease.left < n {
            *lease = self.renew(now).await?;
        }
        let first = lease.next;
        lease.next += n;
        lease.left -= n;
        (first..first + n)
            .map(|number| {
                OrderId::compose(now.seconds(), number).ok_or(EngineError::unready("the clock is off"))
            })
            .collect()
    }

    async fn renew(&self, now: Timestamp) -> Result<Lease, EngineError> {
        let last = self.kv.lease_order_numbers(now, self.block).await?;
        // 2^32 orders in a day: the classic layout ends there, and a refusal beats a repeated id.
        let last =
            u32::try_from(last).map_err(|_| EngineError::unready("the day's order numbers are used up"))?;
        Ok(Lease {
            day: now.day(),
            next: last - self.block + 1,
            left: self.block,
        })
    }
}
