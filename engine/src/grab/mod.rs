//! The grab: cheap refusals, then a place in the voucher's lane, then one script call for all who stand there.

mod lane;
mod memory;

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use domain::{GrabOutcome, SaleState, UserId, VoucherId};

use crate::{
    Clock, EngineError, EngineSettings,
    catalogue::Catalogue,
    crowd::Crowd,
    guardian::AFTERCARE,
    kv::{GrabReply, Kv},
    ledger::sales::SaleRow,
    metrics::Metrics,
    order_ids::OrderIds,
};

pub(crate) use lane::{Lane, LaneParts};

/// The use case of grabbing.
pub(crate) struct Grabs {
    clock: Arc<dyn Clock>,
    parts: Arc<LaneParts>,
    lanes: RwLock<HashMap<VoucherId, Lane>>,
}

impl Grabs {
    pub(crate) fn new(
        kv: Kv,
        catalogue: Arc<Catalogue>,
        ids: OrderIds,
        metrics: Metrics,
        clock: Arc<dyn Clock>,
        crowd: Arc<Crowd>,
        settings: &EngineSettings,
    ) -> Self {
        let (batch, queue) = (settings.grab_batch, settings.grab_queue);
        let fail_points = settings.fail_points.clone();
        let parts = Arc::new(LaneParts {
            kv,
            catalogue,
            ids,
            metrics,
            crowd,
            batch,
            queue,
            fail_points,
        });
        Self {
            clock,
            parts,
            lanes: RwLock::default(),
        }
    }

    /// One attempt. Errors only where the ledger was needed for a voucher that this process does not know.
    pub(crate) async fn grab(&self, user: UserId, voucher: VoucherId) -> Result<GrabOutcome, EngineError> {
        let outcome = self.attempt(user, voucher).await?;
        self.parts.metrics.grab(&outcome);
        Ok(outcome)
    }

    async fn attempt(&self, user: UserId, voucher: VoucherId) -> Result<GrabOutcome, EngineError> {
        let catalogue = &self.parts.catalogue;
        // In the usual case nothing is asked of anybody; else it was just created elsewhere, is long over, or is none.
        let sale = match catalogue.held(voucher) {
            Some(sale) => sale,
            None => match (catalogue.get(voucher).await?, catalogue.held(voucher)) {
                (_, Some(sale)) => sale,
                (Some(old), None) => return Ok(self.old(&old)),
                (None, None) => return Ok(GrabOutcome::UnknownVoucher),
            },
        };
        let outcome = self.lane(voucher).grab(user, sale.epoch).await;
        if outcome != GrabOutcome::NotReady {
            return Ok(outcome);
        }
        if sale.window.state(sale.control, self.clock.now() - AFTERCARE) == SaleState::Ended {
            // Nobody loads a sale again that has been over for long.
            return Ok(GrabOutcome::Ended);
        }
        // Perhaps the sale was rebuilt elsewhere, and this process knows an old epoch.
        if catalogue.renew().await.is_ok()
            && let Some(renewed) = catalogue.held(voucher)
            && renewed.epoch != sale.epoch
        {
            return Ok(self.lane(voucher).grab(user, renewed.epoch).await);
        }
        Ok(outcome)
    }

    /// The answer for a sale that is over for long, or one of very many: Redis is not asked.
    fn old(&self, sale: &SaleRow) -> GrabOutcome {
        let over = sale.window.state(sale.control, self.clock.now()) == SaleState::Ended;
        if over {
            GrabOutcome::Ended
        } else {
            GrabOutcome::NotReady
        }
    }

    /// Units of this voucher came back: what is remembered of it is dropped at once.
    pub(crate) fn forget(&self, voucher: VoucherId) {
        if let Some(lane) = self
            .lanes
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&voucher)
        {
            lane.forget();
        }
    }

    fn lane(&self, voucher: VoucherId) -> Lane {
        let lanes = self.lanes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(&voucher).filter(|lane| lane.is_open()) {
            return lane.clone();
        }
        drop(lanes);
        let mut lanes = self.lanes.write().unwrap_or_else(PoisonError::into_inner);
        // Lanes of sales that the catalogue has dropped end here, and any whose task panicked.
        lanes.retain(|id, lane| lane.is_open() && self.parts.catalogue.held(*id).is_some());
        lanes
            .entry(voucher)
            .or_insert_with(|| Lane::open(voucher, self.parts.clone()))
            .clone()
    }
}

impl From<GrabReply> for GrabOutcome {
    /// For all replies but "queued", whose id the caller knows.
    fn from(reply: GrabReply) -> Self {
        match reply {
            GrabReply::Queued | GrabReply::NotLoaded => Self::NotReady,
            GrabReply::OutOfStock => Self::SoldOut,
            GrabReply::AlreadyOrdered(order_id) => Self::AlreadyOrdered { order_id },
            GrabReply::NotStarted => Self::NotStarted,
            GrabReply::Ended => Self::Ended,
            GrabReply::Paused => Self::Paused,
        }
    }
}
