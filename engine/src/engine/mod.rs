//! The engine's one façade: what it holds, and how it starts. What it does stands beside, by who asks for it.

mod checkup;
mod running;
mod shopping;
mod steering;

use std::sync::Arc;

pub use checkup::{Finding, PoolState};

use prometheus_client::registry::Registry;

use crate::{
    Clock, EngineError, EngineSettings,
    accounts::Accounts,
    catalogue::Catalogue,
    crowd::Crowd,
    dead::DeadLetters,
    events::{BoardKeeper, OrderHub},
    grab::Grabs,
    kv::{Kv, KvSettings},
    ledger::{Ledger, LedgerSettings},
    locks::{self, Locks},
    metrics::Metrics,
    order_ids::OrderIds,
    orders::Orders,
    rate::Limits,
    sales::Sales,
};

/// Whether this process can serve.
#[derive(Debug, Clone, Default)]
pub struct Readiness {
    /// What is wrong, each in a few words; empty when all is well.
    pub troubles: Vec<&'static str>,
}

/// The flash-sale engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    kv: Kv,
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    settings: Arc<EngineSettings>,
    metrics: Metrics,
    catalogue: Arc<Catalogue>,
    accounts: Accounts,
    grabs: Grabs,
    orders: Orders,
    sales: Sales,
    dead: DeadLetters,
    board: BoardKeeper,
    hub: Arc<OrderHub>,
    locks: Locks,
    limits: Limits,
    crowd: Arc<Crowd>,
}

impl Engine {
    /// Connects to both stores and registers the engine's metrics. The schema is expected to be there: see
    /// [`Engine::migrate`].
    pub async fn start(
        settings: EngineSettings,
        clock: Arc<dyn Clock>,
        registry: &mut Registry,
    ) -> Result<Self, EngineError> {
        let kv = Kv::connect(&KvSettings {
            url: settings.redis_url.clone(),
            partitions: settings.partitions,
            response_timeout: settings.response_timeout,
            fail_points: settings.fail_points.clone(),
        })
        .await?;
        let ledger = Ledger::open(&LedgerSettings {
            url: settings.database_url.clone(),
            page_connections: settings.page_connections,
            worker_connections: settings.worker_connections,
            settle_timeout: settings.settle_timeout,
        })?;
        let metrics = Metrics::new(registry);
        let catalogue = Arc::new(Catalogue::new(ledger.clone(), clock.clone()));
        let ids = || OrderIds::new(kv.clone(), clock.clone(), settings.id_lease);
        let locks = Locks::new(kv.clone(), locks::LIFE);
        let sales = Sales {
            kv: kv.clone(),
            ledger: ledger.clone(),
            catalogue: catalogue.clone(),
            clock: clock.clone(),
            ids: Arc::new(OrderIds::new(kv.clone(), clock.clone(), 1)),
            locks: locks.clone(),
        };
        let board = BoardKeeper::new(
            kv.clone(),
            catalogue.clone(),
            clock.clone(),
            metrics.clone(),
            settings.tick,
        );
        let crowd = Arc::new(Crowd::new(settings.grab_batch));
        let inner = Inner {
            accounts: Accounts::new(kv.clone(), ledger.clone(), clock.clone(), &settings),
            grabs: Grabs::new(
                kv.clone(),
                catalogue.clone(),
                ids(),
                metrics.clone(),
                clock.clone(),
                crowd.clone(),
                &settings,
            ),
            orders: Orders {
                kv: kv.clone(),
                ledger: ledger.clone(),
                catalogue: catalogue.clone(),
            },
            sales,
            dead: DeadLetters {
                kv: kv.clone(),
                ledger: ledger.clone(),
            },
            board,
            limits: Limits::new(kv.clone(), metrics.clone(), &settings.rates),
            hub: Arc::new(OrderHub::new()),
            crowd,
            locks,
            kv,
            ledger,
            clock,
            settings: Arc::new(settings),
            metrics,
            catalogue,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Brings the ledger's schema up to date.
    pub async fn migrate(settings: &EngineSettings) -> Result<(), EngineError> {
        let ledger = Ledger::open(&LedgerSettings {
            url: settings.database_url.clone(),
            page_connections: 1,
            worker_connections: 1,
            settle_timeout: settings.settle_timeout,
        })?;
        ledger.migrate().await?;
        ledger.close().await;
        Ok(())
    }
}
