//! What a process remembers of a sale for a moment, so that a crowd before an empty shelf does not go to Redis: that
//! nothing is left, and who has what. It can only refuse, and it refuses exactly as the script would: while nothing is
//! left and nothing has moved, neither the stock nor the claims can have changed.

use std::{
    collections::HashMap,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use domain::{GrabOutcome, OrderId, SaleState, UserId, VoucherId};
use tokio::time::Instant;

use crate::{
    EngineError,
    kv::{Kv, SaleMark},
};

/// A memory is good for this long after Redis was asked, and no longer.
const GOOD_FOR: Duration = Duration::from_millis(200);
/// While somebody is refused from it, it is renewed this often.
const RENEW_EVERY: Duration = Duration::from_millis(80);
/// A sale with more claims is not remembered: they would have to be read and held by every process.
const MOST_CLAIMS: i64 = 1_000_000;

/// The memory of one sale.
#[derive(Default)]
pub(super) struct Memory {
    empty: RwLock<Option<Empty>>,
    /// Somebody was refused since the last renewal.
    asked: AtomicBool,
    /// A keeper runs.
    kept: AtomicBool,
}

/// Nothing was left, and this is who had what.
#[derive(Clone)]
struct Empty {
    mark: SaleMark,
    owners: Arc<HashMap<UserId, OrderId>>,
    until: Instant,
}

impl Memory {
    /// The script's answer, if it is known.
    pub(super) fn answer(&self, user: UserId, epoch: i64) -> Option<GrabOutcome> {
        let empty = self.empty.read().unwrap_or_else(PoisonError::into_inner);
        let empty = empty
            .as_ref()
            .filter(|empty| empty.mark.epoch == epoch && Instant::now() < empty.until)?;
        self.asked.store(true, Ordering::Relaxed);
        Some(match empty.owners.get(&user) {
            Some(order_id) => GrabOutcome::AlreadyOrdered { order_id: *order_id },
            None => GrabOutcome::SoldOut,
        })
    }

    /// Forgets, since units came back.
    pub(super) fn forget(&self) {
        *self.empty.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The script gave nobody anything: if nothing is left, remembers it for as long as somebody asks.
    pub(super) fn keep(self: &Arc<Self>, kv: &Kv, voucher: VoucherId) {
        if !self.kept.swap(true, Ordering::AcqRel) {
            let (memory, kv) = (self.clone(), kv.clone());
            tokio::spawn(async move {
                // An error ends the keeping: the next such answer begins anew.
                let _ = memory.run(&kv, voucher).await;
                memory.forget();
                // Where something is left, the next look is not taken at once.
                tokio::time::sleep(GOOD_FOR).await;
                memory.kept.store(false, Ordering::Release);
            });
        }
    }

    async fn run(&self, kv: &Kv, voucher: VoucherId) -> Result<(), EngineError> {
        let Some((mark, _)) = look(kv, voucher).await? else {
            return Ok(());
        };
        let owners = Arc::new(owners(kv, voucher).await?);
        loop {
            // The same mark before and after: nothing moved while the claims were read, nor since.
            let Some((now, until)) = look(kv, voucher).await?.filter(|(now, _)| *now == mark) else {
                return Ok(());
            };
            let empty = Empty {
                mark: now,
                owners: owners.clone(),
                until,
            };
            *self.empty.write().unwrap_or_else(PoisonError::into_inner) = Some(empty);
            tokio::time::sleep(RENEW_EVERY).await;
            if !self.asked.swap(false, Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
}

/// The sale's mark, if nothing is left of it and it is open, and until when that is good.
async fn look(kv: &Kv, voucher: VoucherId) -> Result<Option<(SaleMark, Instant)>, EngineError> {
    let until = Instant::now() + GOOD_FOR;
    let Some(seen) = kv.mark(voucher).await? else {
        return Ok(None);
    };
    let open = seen.window.state(seen.control, seen.now) == SaleState::Live;
    // The script would say "ended" at the end: the memory is gone by then.
    let ends = seen.window.ends_at.millis() - seen.now.millis();
    let ends = Duration::from_millis(u64::try_from(ends).unwrap_or(0));
    let until = until.min(until - GOOD_FOR + ends);
    Ok((open && seen.stock <= 0 && seen.claims <= MOST_CLAIMS).then_some((seen.mark, until)))
}

async fn owners(kv: &Kv, voucher: VoucherId) -> Result<HashMap<UserId, OrderId>, EngineError> {
    let mut owners = HashMap::new();
    let mut cursor = 0;
    loop {
        let (next, claims) = kv.scan_claims(voucher, cursor).await?;
        owners.extend(claims);
        cursor = next;
        if cursor == 0 {
            return Ok(owners);
        }
    }
}
