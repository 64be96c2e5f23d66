//! What operators do. The caller has checked the role.

use domain::{Control, SaleDraft, SaleEdit, StockDelta, UserId, Voucher, VoucherId};

use super::Engine;
use crate::{
    AuditLine, DeadLetter, EditError, EngineError, FoundOrder, LetterOutcome, OrderSearch, Overview,
    PublishError, SaleSum, SteerError, StreamState,
    ledger::{audit, search},
    overview,
};

/// Orders on one page of a search.
const ORDERS_A_PAGE: i64 = 200;
/// Lines of the audit log shown at once.
const AUDIT_LINES: i64 = 200;

impl Engine {
    /// Creates a sale and loads it.
    pub async fn publish(
        &self,
        actor: Option<UserId>,
        shop_id: i64,
        draft: SaleDraft,
    ) -> Result<Voucher, PublishError> {
        let id = self.inner.sales.publish(actor, shop_id, draft).await?;
        Ok(self
            .voucher(id)
            .await?
            .ok_or(EngineError::unready("the sale is not in the catalogue"))?)
    }

    /// Writes a draft: nobody but operators sees it.
    pub async fn draft(
        &self,
        actor: UserId,
        shop_id: i64,
        draft: SaleDraft,
    ) -> Result<VoucherId, PublishError> {
        self.inner.sales.draft(actor, shop_id, draft).await
    }

    /// Publishes a draft.
    pub async fn open(&self, actor: UserId, id: VoucherId) -> Result<(), SteerError> {
        self.inner.sales.open(actor, id).await
    }

    /// The drafts, newest first.
    pub async fn drafts(&self) -> Result<Vec<Voucher>, EngineError> {
        self.inner.sales.drafts().await
    }

    /// A sale as operators see it, drafts included.
    pub async fn sale(&self, id: VoucherId) -> Result<Option<Voucher>, EngineError> {
        self.inner.sales.one(id).await
    }

    /// Pauses, resumes or ends a sale.
    pub async fn steer(&self, actor: UserId, id: VoucherId, control: Control) -> Result<(), SteerError> {
        self.inner.sales.steer(actor, id, control).await
    }

    /// Adds or takes units.
    pub async fn restock(&self, actor: UserId, id: VoucherId, change: &StockDelta) -> Result<(), SteerError> {
        let done = self.inner.sales.restock(actor, id, change).await;
        self.inner.grabs.forget(id);
        done
    }

    /// The sums.
    pub async fn overview(&self) -> Result<Overview, EngineError> {
        overview::overview(&self.inner.kv, &self.inner.ledger, &self.inner.catalogue).await
    }

    /// One sale's sum.
    pub async fn sum(&self, id: VoucherId) -> Result<Option<SaleSum>, EngineError> {
        overview::sum(&self.inner.kv, &self.inner.ledger, id).await
    }

    /// The streams.
    pub async fn streams(&self) -> Result<Vec<StreamState>, EngineError> {
        overview::streams(&self.inner.kv).await
    }

    /// Changes what a sale says of itself, and its window.
    pub async fn edit(&self, actor: UserId, id: VoucherId, edit: SaleEdit) -> Result<(), EditError> {
        self.inner.sales.edit(actor, id, edit).await
    }

    /// The newest orders that match, a page of them.
    pub async fn search_orders(&self, wanted: &OrderSearch) -> Result<Vec<FoundOrder>, EngineError> {
        Ok(search::search(&self.inner.ledger.pages, wanted, ORDERS_A_PAGE).await?)
    }

    /// The dead letters, newest first.
    pub async fn dead_letters(&self) -> Result<Vec<DeadLetter>, EngineError> {
        self.inner.dead.all().await
    }

    /// Queues a dead letter's order again.
    pub async fn replay_letter(&self, actor: UserId, id: &str) -> Result<LetterOutcome, EngineError> {
        self.inner.dead.replay(actor, id).await
    }

    /// Marks a dead letter's order as failed and gives its unit back.
    pub async fn release_letter(&self, actor: UserId, id: &str) -> Result<LetterOutcome, EngineError> {
        self.inner.dead.release(actor, id).await
    }

    /// A sale's audit log, newest first.
    pub async fn audit(&self, id: VoucherId) -> Result<Vec<AuditLine>, EngineError> {
        Ok(audit::of_voucher(&self.inner.ledger.pages, id, AUDIT_LINES).await?)
    }
}
