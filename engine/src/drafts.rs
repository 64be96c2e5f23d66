//! Drafts: sales that are written and not yet published. The ledger alone holds them.

use std::sync::Arc;

use domain::{Control, SaleDraft, UserId, Voucher, VoucherId};

use crate::{
    EngineError, PublishError, SteerError,
    ledger::{LedgerError, audit, sales},
    sales::Sales,
};

/// Drafts shown at once.
const SHOWN: i64 = 200;

impl Sales {
    /// Writes a draft.
    pub(crate) async fn draft(
        &self,
        actor: UserId,
        shop_id: i64,
        draft: SaleDraft,
    ) -> Result<VoucherId, PublishError> {
        let sale = draft.check(self.clock.now()).map_err(PublishError::Invalid)?;
        let mut tx = self.ledger.begin().await.map_err(EngineError::from)?;
        let row = Self::write(&mut tx, Some(actor), shop_id, &sale, Control::Draft).await?;
        tx.commit()
            .await
            .map_err(|error| EngineError::from(LedgerError::from(error)))?;
        Ok(row.id)
    }

    /// Publishes a draft: from now on it is a sale like any other. One that is published already stays as it is.
    pub(crate) async fn open(&self, actor: UserId, id: VoucherId) -> Result<(), SteerError> {
        let mut tx = self.ledger.begin().await.map_err(EngineError::from)?;
        let row = Self::locked(&mut tx, id).await?;
        match row.control {
            Control::Draft => {}
            Control::Ended => return Err(SteerError::Ended),
            Control::Running | Control::Paused => return Ok(()),
        }
        if row.window.ends_at <= self.clock.now() {
            return Err(SteerError::Over);
        }
        sales::steer(&mut *tx, id, Control::Running)
            .await
            .map_err(EngineError::from)?;
        let detail = format!("{} -> {}", row.control.word(), Control::Running.word());
        audit::write(&mut *tx, Some(actor), "steered", Some(id), &detail)
            .await
            .map_err(EngineError::from)?;
        let published = sales::by_id(&mut *tx, id)
            .await
            .map_err(EngineError::from)?
            .ok_or(SteerError::Unknown)?;
        Ok(self.commit_and_load(tx, &published).await?)
    }

    /// The drafts, newest first.
    pub(crate) async fn drafts(&self) -> Result<Vec<Voucher>, EngineError> {
        let rows = sales::drafts(&self.ledger.pages, SHOWN).await?;
        let rows: Vec<_> = rows.into_iter().map(Arc::new).collect();
        self.vouchers(&rows).await
    }

    /// A sale as operators see it, drafts included.
    pub(crate) async fn one(&self, id: VoucherId) -> Result<Option<Voucher>, EngineError> {
        let row = match self.catalogue.get(id).await? {
            Some(row) => Some(row),
            None => sales::by_id(&self.ledger.pages, id).await?.map(Arc::new),
        };
        match row {
            Some(row) => Ok(self.vouchers(&[row]).await?.pop()),
            None => Ok(None),
        }
    }
}
