//! The sales that a process knows, so that a grab or a page needs no SQL. A copy of the ledger, renewed in the background.
//! Drafts are no part of it: whoever is not an operator can't tell one from a sale that is not there.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use domain::{Control, VoucherId};
use moka::future::Cache;
use tokio::{sync::Mutex, time::Instant};

use crate::{
    Clock, EngineError,
    ledger::{Ledger, sales, sales::SaleRow},
};

/// Sales that ended longer ago are looked up one by one.
const KEEP: Duration = Duration::from_hours(7 * 24);
/// Sales held at once.
const MOST: i64 = 2000;
/// Old sales are remembered this long, whether they exist or not.
const OLD_MEMORY: Duration = Duration::from_mins(1);
/// Old sales remembered at once.
const OLD_MOST: u64 = 10_000;

/// What is known at one moment.
#[derive(Debug, Default)]
struct Known {
    sales: BTreeMap<VoucherId, Arc<SaleRow>>,
    /// No voucher has a higher id.
    newest: i64,
}

/// The known sales.
pub(crate) struct Catalogue {
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    known: RwLock<Arc<Known>>,
    old: Cache<VoucherId, Option<Arc<SaleRow>>>,
    /// When the last renewal began; held while one runs, so that callers share it.
    renewal: Mutex<Option<Instant>>,
}

impl Catalogue {
    pub(crate) fn new(ledger: Ledger, clock: Arc<dyn Clock>) -> Self {
        let old = Cache::builder()
            .max_capacity(OLD_MOST)
            .time_to_live(OLD_MEMORY)
            .build();
        Self {
            ledger,
            clock,
            known: RwLock::default(),
            old,
            renewal: Mutex::default(),
        }
    }

    fn known(&self) -> Arc<Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The recent sales, newest first.
    pub(crate) fn all(&self) -> Vec<Arc<SaleRow>> {
        self.known().sales.values().rev().cloned().collect()
    }

    /// A sale that is held; no lookup.
    pub(crate) fn held(&self, id: VoucherId) -> Option<Arc<SaleRow>> {
        self.known().sales.get(&id).cloned()
    }

    /// The sale with this id. Asks the ledger only for one that may have just been created, or that ended long ago.
    pub(crate) async fn get(&self, id: VoucherId) -> Result<Option<Arc<SaleRow>>, EngineError> {
        let known = self.known();
        if let Some(sale) = known.sales.get(&id) {
            return Ok(Some(sale.clone()));
        }
        if id.get() > known.newest {
            self.renew().await?;
            return Ok(self.held(id));
        }
        if let Some(remembered) = self.old.get(&id).await {
            return Ok(remembered);
        }
        let sale = sales::by_id(&self.ledger.pages, id)
            .await?
            .filter(|sale| sale.control != Control::Draft)
            .map(Arc::new);
        self.old.insert(id, sale.clone()).await;
        Ok(sale)
    }

    /// Reads the ledger again; whatever was committed before this call is known after it. Callers that come while a
    /// renewal is under way share the next one, so that there is never more than one at a time.
    pub(crate) async fn renew(&self) -> Result<(), EngineError> {
        let asked = Instant::now();
        let mut began = self.renewal.lock().await;
        if began.is_some_and(|at| at > asked) {
            return Ok(());
        }
        let start = Instant::now();
        // The newest id first: a sale that commits between the two reads is then held, or above it.
        let newest = sales::newest(&self.ledger.pages).await?;
        let rows = sales::recent(&self.ledger.pages, self.clock.now() - KEEP, MOST).await?;
        let sales = rows.into_iter().map(|row| (row.id, Arc::new(row))).collect();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Known { sales, newest });
        *began = Some(start);
        Ok(())
    }
}
