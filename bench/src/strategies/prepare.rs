//! A database with accounts for all strategies, and Redis processes for one run each.

use std::sync::Arc;

use anyhow::Result;
use engine::{
    Engine, EngineSettings, SystemClock,
    testing::{TestDatabase, TestRedis},
};
use prometheus_client::registry::Registry;

use super::{Kind, Venue, venue::Addresses};
use crate::stand::{Fsync, patient, redis};

/// Redis processes a run: Redlock asks three, the failover needs two.
const REDIS: usize = 3;

/// The ground on which all strategies run.
pub(crate) struct Ground {
    database: TestDatabase,
}

/// The stores of one run. The processes end with it.
pub(super) struct Stores {
    pub(super) at: Addresses,
    _redis: Vec<TestRedis>,
}

impl Ground {
    /// Makes the schema and accounts enough for the largest sale.
    pub(crate) async fn open(kinds: &[Kind], quick: bool) -> Result<Self> {
        let database = TestDatabase::create().await;
        let redis = redis(Fsync::No).await;
        let settings = patient(EngineSettings::new(redis.url(), database.url(), "strategies"));
        Engine::migrate(&settings).await?;
        let engine = Engine::start(settings, Arc::new(SystemClock), &mut Registry::default()).await?;
        let most = kinds
            .iter()
            .map(|kind| kind.stock(quick))
            .max()
            .unwrap_or_default();
        engine.mint_sessions(u32::try_from(most * 2)?).await?;
        engine.close().await;
        Ok(Self { database })
    }

    /// Fresh Redis processes and a fresh sale.
    pub(super) async fn run(&self, kind: Kind, stock: i64, stalls: bool) -> Result<(Stores, Venue)> {
        let wanted = if matches!(kind, Kind::Redlock | Kind::Failover) {
            REDIS
        } else {
            1
        };
        let mut processes = Vec::new();
        for _ in 0..wanted {
            processes.push(redis(Fsync::Always).await);
        }
        let at = Addresses {
            database: self.database.url(),
            redis: processes.iter().map(TestRedis::url).collect(),
        };
        let venue = Venue::open(at.clone(), stock, stalls).await?;
        venue.fresh_sale().await?;
        let stores = Stores {
            at,
            _redis: processes,
        };
        Ok((stores, venue))
    }

    /// Drops the database.
    pub(crate) async fn close(self) {
        self.database.drop_now().await;
    }
}
