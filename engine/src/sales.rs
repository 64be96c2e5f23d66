//! What operators do: publish a sale, steer it, change its stock. The ledger first or in step, Redis after it; each step
//! can be made again.

use std::{sync::Arc, time::Duration};

use domain::{Control, FieldErrors, NewSale, SaleDraft, StockDelta, UserId, Voucher, VoucherId};

use crate::{
    Clock, EngineError,
    catalogue::Catalogue,
    kv::{Kv, News, RestockReply, RestockStep, SaleCopy},
    ledger::{Ledger, Transaction, audit, orders, sales, sales::SaleRow, stock},
    locks::Locks,
    order_ids::OrderIds,
};
use tokio::time::Instant;

/// A lock on a sale that nobody knows yet is free, unless Redis is in trouble.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Why a sale was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The draft is wrong; nothing was written.
    #[error("the draft is wrong")]
    Invalid(FieldErrors),
    /// A store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Why a sale was not steered.
#[derive(Debug, thiserror::Error)]
pub enum SteerError {
    /// There is no such sale.
    #[error("no such sale")]
    Unknown,
    /// It has ended, for good.
    #[error("the sale has ended")]
    Ended,
    /// It is a draft: there is nothing to steer yet.
    #[error("the sale is a draft")]
    Draft,
    /// It can't be published: its window lies in the past.
    #[error("the sale would be over already")]
    Over,
    /// Fewer units are left than are to be taken.
    #[error("fewer units are left")]
    TooFewLeft,
    /// Redis does not hold the sale; it is being loaded.
    #[error("the sale is not loaded")]
    NotLoaded,
    /// A store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Two operators who change one stock at once get in each other's way this often at the most.
const TRIES: usize = 5;

/// The use cases of operators.
pub(crate) struct Sales {
    pub(crate) kv: Kv,
    pub(crate) ledger: Ledger,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<OrderIds>,
    pub(crate) locks: Locks,
}

impl Sales {
    /// Writes a sale and loads it. Should Redis fail after the ledger took it, the sale stands and is loaded later.
    pub(crate) async fn publish(
        &self,
        actor: Option<UserId>,
        shop_id: i64,
        draft: SaleDraft,
    ) -> Result<VoucherId, PublishError> {
        let sale = draft.check(self.clock.now()).map_err(PublishError::Invalid)?;
        let mut tx = self.ledger.begin().await.map_err(EngineError::from)?;
        let row = Self::write(&mut tx, actor, shop_id, &sale, Control::Running).await?;
        self.commit_and_load(tx, &row).await?;
        Ok(row.id)
    }

    /// Commits a sale that is to be sold from now on, and loads it. A lock keeps guardians from loading it before this
    /// does; a Redis that can't lend it can't load either.
    pub(crate) async fn commit_and_load(&self, tx: Transaction, row: &SaleRow) -> Result<(), EngineError> {
        let deadline = Instant::now() + LOCK_WAIT;
        let lock = self
            .locks
            .take(&format!("rebuild:{}", row.id), row.fence, deadline)
            .await
            .ok()
            .flatten();
        tx.commit().await.map_err(crate::ledger::LedgerError::from)?;
        if let Err(error) = self.load(row).await {
            tracing::warn!(%error, voucher = %row.id, "a sale is saved but not loaded yet");
        }
        drop(lock);
        self.announce().await;
        Ok(())
    }

    /// Writes a sale.
    pub(crate) async fn write(
        tx: &mut Transaction,
        actor: Option<UserId>,
        shop_id: i64,
        sale: &NewSale,
        control: Control,
    ) -> Result<SaleRow, EngineError> {
        let id = sales::insert(&mut *tx, sale, shop_id, control).await?;
        let detail = format!(
            "{} units, {} to {}",
            sale.stock, sale.window.begins_at, sale.window.ends_at
        );
        audit::write(&mut **tx, actor, "created", Some(id), &detail).await?;
        sales::by_id(&mut **tx, id)
            .await?
            .ok_or(EngineError::unready("the sale vanished"))
    }

    /// Loads a sale from the ledger under the ledger's epoch, unless Redis holds it already. Returns whether it did.
    pub(crate) async fn load(&self, row: &SaleRow) -> Result<bool, EngineError> {
        let claims = orders::claims(&self.ledger.pages, row.id).await?;
        let copy = SaleCopy {
            voucher: row.id,
            epoch: row.epoch,
            version: row.version,
            window: row.window,
            control: row.control,
            initial: row.initial,
            stock: row.stock,
            claims,
        };
        Ok(self.kv.load(&copy).await?)
    }

    /// The sale, locked against other writers until the transaction ends.
    pub(crate) async fn locked(tx: &mut Transaction, id: VoucherId) -> Result<SaleRow, SteerError> {
        let row = sales::lock(&mut **tx, id).await.map_err(EngineError::from)?;
        row.ok_or(SteerError::Unknown)
    }

    /// Pauses, resumes or ends a sale, in both stores.
    pub(crate) async fn steer(
        &self,
        actor: UserId,
        id: VoucherId,
        control: Control,
    ) -> Result<(), SteerError> {
        let mut tx = self.ledger.begin().await.map_err(EngineError::from)?;
        let row = Self::locked(&mut tx, id).await?;
        match row.control {
            Control::Ended if control != Control::Ended => return Err(SteerError::Ended),
            Control::Draft => return Err(SteerError::Draft),
            _ => {}
        }
        let mut version = row.version;
        if row.control != control {
            version += 1;
            sales::steer(&mut *tx, id, control)
                .await
                .map_err(EngineError::from)?;
            let detail = format!("{} -> {}", row.control.word(), control.word());
            audit::write(&mut *tx, Some(actor), "steered", Some(id), &detail)
                .await
                .map_err(EngineError::from)?;
            tx.commit()
                .await
                .map_err(|error| EngineError::from(crate::ledger::LedgerError::from(error)))?;
        }
        let set = self
            .kv
            .steer(id, row.epoch, version, control, row.window)
            .await
            .map_err(EngineError::from)?;
        self.announce().await;
        if set { Ok(()) } else { Err(SteerError::NotLoaded) }
    }

    /// Adds or takes units, in both stores, while the sale runs. Taking is limited to units that nobody holds.
    pub(crate) async fn restock(
        &self,
        actor: UserId,
        id: VoucherId,
        change: &StockDelta,
    ) -> Result<(), SteerError> {
        // Two operators at once: the second one finds another version and begins again.
        for _ in 0..TRIES {
            if self.restock_once(actor, id, change).await? {
                self.announce().await;
                return Ok(());
            }
        }
        Err(SteerError::TooFewLeft)
    }

    /// `false`: the ledger did not take it, nothing changed.
    async fn restock_once(
        &self,
        actor: UserId,
        id: VoucherId,
        change: &StockDelta,
    ) -> Result<bool, SteerError> {
        let row = sales::by_id(&self.ledger.pages, id)
            .await
            .map_err(EngineError::from)?
            .ok_or(SteerError::Unknown)?;
        if row.control == Control::Ended {
            return Err(SteerError::Ended);
        }
        let number = self
            .ids
            .mint(1)
            .await?
            .first()
            .ok_or(EngineError::unready("no id"))?
            .get();
        if row.control == Control::Draft {
            // Redis does not know it.
            return Ok(self.write_change(actor, &row, number, change).await?);
        }
        let step = |step| self.kv.restock(step, id, row.epoch, number, change.delta());
        match step(RestockStep::Begin).await.map_err(EngineError::from)? {
            RestockReply::Done | RestockReply::AlreadyDone => {}
            RestockReply::TooFewLeft => return Err(SteerError::TooFewLeft),
            RestockReply::NotLoaded => return Err(SteerError::NotLoaded),
        }
        // On an error it is unknown whether it was committed: the note in Redis stays, and the guardian asks the ledger.
        let written = self.write_change(actor, &row, number, change).await?;
        let last = if written {
            RestockStep::Commit
        } else {
            RestockStep::Abort
        };
        step(last).await.map_err(EngineError::from)?;
        Ok(written)
    }

    async fn write_change(
        &self,
        actor: UserId,
        row: &SaleRow,
        number: i64,
        change: &StockDelta,
    ) -> Result<bool, EngineError> {
        let mut tx = self.ledger.begin().await?;
        if !stock::change(&mut tx, number, row, change, actor).await? {
            return Ok(false);
        }
        let (before, delta) = (row.initial, i64::from(change.delta()));
        let detail = format!(
            "{delta:+} units ({before} -> {}): {}",
            before + delta,
            change.reason()
        );
        audit::write(&mut *tx, Some(actor), "stock", Some(row.id), &detail).await?;
        tx.commit().await.map_err(crate::ledger::LedgerError::from)?;
        Ok(true)
    }

    /// The vouchers as shoppers see them, by Redis' clock, stock and state; those that Redis does not hold by the ledger's.
    pub(crate) async fn vouchers(&self, rows: &[Arc<SaleRow>]) -> Result<Vec<Voucher>, EngineError> {
        let ids: Vec<VoucherId> = rows.iter().map(|row| row.id).collect();
        let (now, views) = self.kv.views(&ids).await?;
        let pairs = rows.iter().zip(views);
        Ok(pairs
            .map(|(row, view)| Voucher {
                id: row.id,
                title: row.title.clone(),
                sub_title: row.sub_title.clone(),
                rules: row.rules.clone(),
                pay_value: row.pay_value,
                actual_value: row.actual_value,
                // Not loaded: the ledger's figures, which lag by what is in flight.
                stock: view.as_ref().map_or(row.stock, |view| view.stock),
                held: view.as_ref().is_some_and(|view| row.all_held(view.stock)),
                initial_stock: view.as_ref().map_or(row.initial, |view| view.initial),
                state: match view {
                    Some(view) => view.window.state(view.control, now),
                    None => row.window.state(row.control, now),
                },
                begins_at: row.window.begins_at,
                ends_at: row.window.ends_at,
            })
            .collect())
    }

    /// Tells this process, and the others, that the sales have changed.
    pub(crate) async fn announce(&self) {
        if let Err(error) = self.catalogue.renew().await {
            tracing::warn!(%error, "the catalogue could not be renewed; it will be within a second");
        }
        if let Err(error) = self.kv.publish(&News::Sales).await {
            tracing::warn!(%error, "other processes were not told of a change; they see it within a second");
        }
    }
}
