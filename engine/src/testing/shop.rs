//! A whole shop for one test: stores of its own, an engine, a consumer that is stepped by hand.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use domain::{SaleDraft, Timestamp, UserId, Voucher};
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use super::{TestDatabase, TestRedis};
use crate::{Clock, Engine, EngineSettings, Guardian, PassReport, SystemClock, Worker};

/// The machine's clock, shifted as the test likes.
#[derive(Debug, Default)]
pub struct TestClock {
    shift_ms: AtomicI64,
}

impl TestClock {
    /// From now on the clock is off by this.
    pub fn shift(&self, millis: i64) {
        self.shift_ms.store(millis, Ordering::Relaxed);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().millis() + self.shift_ms.load(Ordering::Relaxed))
    }
}

/// A shop. End each test with [`TestShop::close`]: it fails if entries are left or units don't add up.
pub struct TestShop {
    /// Its Redis.
    pub redis: TestRedis,
    /// Its database.
    pub database: TestDatabase,
    /// Its clock.
    pub clock: Arc<TestClock>,
    /// The engine.
    pub engine: Engine,
    /// The settings that the engine was started with.
    pub settings: EngineSettings,
    closed: bool,
}

impl TestShop {
    /// Opens a shop.
    pub async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    /// Opens a shop with settings changed.
    pub async fn open_with(change: impl FnOnce(&mut EngineSettings)) -> Self {
        let redis = TestRedis::start().await;
        let database = TestDatabase::create().await;
        let mut settings = EngineSettings::new(redis.url(), database.url(), "test-consumer");
        settings.block = std::time::Duration::from_millis(10);
        change(&mut settings);
        settings.check().expect("settings that work");
        Engine::migrate(&settings).await.expect("the schema");
        let clock = Arc::new(TestClock::default());
        let engine = start(&settings, &clock).await;
        Self {
            redis,
            database,
            clock,
            engine,
            settings,
            closed: false,
        }
    }

    /// Another process on the same stores.
    pub async fn another(&self, consumer: &str) -> Engine {
        let settings = EngineSettings {
            consumer: consumer.to_owned(),
            ..self.settings.clone()
        };
        start(&settings, &self.clock).await
    }

    /// Publishes a sale that is open for an hour.
    pub async fn sale(&self, stock: i64) -> Voucher {
        let now = SystemClock.now();
        let hour = std::time::Duration::from_hours(1);
        self.sale_between(stock, now - std::time::Duration::from_secs(1), now + hour)
            .await
    }

    /// Publishes a sale with this window.
    pub async fn sale_between(&self, stock: i64, begins_at: Timestamp, ends_at: Timestamp) -> Voucher {
        let draft = SaleDraft {
            title: "A test voucher".into(),
            sub_title: String::new(),
            rules: String::new(),
            pay_value: 4750,
            actual_value: 5000,
            stock,
            begins_at,
            ends_at,
        };
        self.engine
            .publish(None, 1, draft)
            .await
            .expect("the sale is published")
    }

    /// Accounts of `n` shoppers.
    pub async fn shoppers(&self, n: u32) -> Vec<UserId> {
        let minted = self.engine.mint_sessions(n).await.expect("sessions");
        minted.into_iter().map(|(user, _)| user).collect()
    }

    /// The consumer of the first partition, to be stepped.
    pub fn worker(&self) -> Worker {
        self.engine.workers(&CancellationToken::new()).remove(0)
    }

    /// The guardian, to be stepped.
    pub fn guardian(&self) -> Guardian {
        self.engine.guardian(&CancellationToken::new())
    }

    /// Steps a fresh consumer until nothing is left to read.
    pub async fn settle_all(&self) -> PassReport {
        let mut worker = self.worker();
        let mut total = PassReport::default();
        loop {
            let report = worker.pass().await.expect("a pass");
            if report.read == 0 {
                return total;
            }
            total += report;
        }
    }

    /// Checks that nothing is left over and units add up, and drops everything.
    pub async fn close(mut self) {
        self.closed = true;
        for stream in self.engine.streams().await.expect("streams") {
            assert_eq!((stream.waiting, stream.pending), (0, 0), "entries are left over");
        }
        for sum in self.engine.overview().await.expect("sums").sales {
            if sum.loaded {
                assert_eq!((sum.in_flight, sum.drift), (0, 0), "units don't add up: {sum:?}");
                assert_eq!(
                    sum.redis_stock,
                    Some(sum.ledger_stock),
                    "the stores differ: {sum:?}"
                );
            }
            assert_eq!(
                sum.units,
                sum.live_orders + sum.ledger_stock,
                "the ledger does not add up: {sum:?}"
            );
        }
        self.engine.close().await;
        self.database.drop_now().await;
    }
}

impl Drop for TestShop {
    fn drop(&mut self) {
        assert!(
            self.closed || std::thread::panicking(),
            "a test shop is to be closed"
        );
    }
}

async fn start(settings: &EngineSettings, clock: &Arc<TestClock>) -> Engine {
    let engine = Engine::start(settings.clone(), clock.clone(), &mut Registry::default()).await;
    engine.expect("the engine starts")
}
