//! Where a shopper's orders stand: the ledger tells, and for what it does not hold yet, the claim in Redis.

use std::sync::Arc;

use domain::{Order, OrderId, OrderState, Timestamp, UserId, VoucherId};

use crate::{
    EngineError,
    catalogue::Catalogue,
    kv::Kv,
    ledger::{Ledger, orders},
};

/// Orders shown on one page.
const SHOWN: i64 = 100;
/// Sales in which queued orders are looked for.
const RECENT: usize = 100;

/// The use cases of orders.
pub(crate) struct Orders {
    pub(crate) kv: Kv,
    pub(crate) ledger: Ledger,
    pub(crate) catalogue: Arc<Catalogue>,
}

impl Orders {
    /// The user's order for a voucher, wherever it stands.
    ///
    /// The claim is read before the ledger: an order that settles in between is found in the ledger.
    pub(crate) async fn for_voucher(
        &self,
        user: UserId,
        voucher: VoucherId,
    ) -> Result<Option<Order>, EngineError> {
        let claim = self.kv.claim(voucher, user).await?;
        let row = orders::newest_for(&self.ledger.pages, user, voucher).await?;
        match (claim, row) {
            // A claim newer than the newest row: queued again after an earlier order failed.
            (Some(claim), row) if row.as_ref().is_none_or(|row| row.order_id < claim) => {
                Ok(Some(self.queued(voucher, claim)))
            }
            (_, row) => Ok(row),
        }
    }

    /// The user's orders, newest first.
    pub(crate) async fn all(&self, user: UserId) -> Result<Vec<Order>, EngineError> {
        let vouchers: Vec<VoucherId> = self
            .catalogue
            .all()
            .iter()
            .take(RECENT)
            .map(|sale| sale.id)
            .collect();
        let claims = self.kv.claims_of(user, &vouchers).await?;
        let mut all = orders::of_user(&self.ledger.pages, user, SHOWN).await?;
        for (voucher, id) in claims {
            if all.iter().all(|order| order.order_id != id) {
                all.push(self.queued(voucher, id));
            }
        }
        all.sort_unstable_by_key(|order| std::cmp::Reverse(order.order_id));
        Ok(all)
    }

    /// One order, if it is the user's.
    pub(crate) async fn by_id(&self, user: UserId, id: OrderId) -> Result<Option<Order>, EngineError> {
        if let Some(order) = orders::by_id(&self.ledger.pages, user, id).await? {
            return Ok(Some(order));
        }
        let vouchers: Vec<VoucherId> = self
            .catalogue
            .all()
            .iter()
            .take(RECENT)
            .map(|sale| sale.id)
            .collect();
        let claims = self.kv.claims_of(user, &vouchers).await?;
        if let Some((voucher, _)) = claims.into_iter().find(|(_, held)| *held == id) {
            return Ok(Some(self.queued(voucher, id)));
        }
        // It may have settled, and failed, between the two looks.
        Ok(orders::by_id(&self.ledger.pages, user, id).await?)
    }

    fn queued(&self, voucher: VoucherId, id: OrderId) -> Order {
        Order {
            order_id: id,
            voucher_id: voucher,
            title: self.catalogue.held(voucher).map(|sale| sale.title.clone()),
            state: OrderState::Queued,
            reason: None,
            ordered_at: Timestamp::from_millis(id.unix_seconds() * 1000),
            updated_at: None,
        }
    }
}
