//! The engine's one façade.

use std::sync::Arc;

use domain::{
    Account, Control, GrabOutcome, Order, OrderId, Phone, SaleDraft, SaleEdit, StockDelta, Timestamp, UserId, Voucher,
    VoucherId,
};
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

use crate::{
    AuditLine, Clock, DeadLetter, EditError, FoundOrder, LetterOutcome, OrderSearch, CodeSent, EngineError, EngineSettings, LogInError, Overview, PublishError, SaleSum,
    Session, SessionToken, SteerError, StreamState, Worker,
    accounts::Accounts,
    catalogue::Catalogue,
    dead::DeadLetters,
    events::{BoardKeeper, Live, OrderHub, hear_news},
    grab::Grabs,
    guardian::Guardian,
    kv::{Kv, KvSettings},
    ledger::{Ledger, LedgerSettings, audit, search},
    locks::{self, Locks},
    metrics::Metrics,
    order_ids::OrderIds,
    orders::Orders,
    overview,
    rate::Limits,
    sales::Sales,
};

/// Orders on one page of a search.
const ORDERS_A_PAGE: i64 = 200;
/// Lines of the audit log shown at once.
const AUDIT_LINES: i64 = 200;
/// How often a process looks whether the sales have changed, in case it was not told.
const RENEW_EVERY: std::time::Duration = std::time::Duration::from_secs(1);

/// An entry that has waited for longer than this, in milliseconds, means that nobody settles.
const STUCK_MS: u64 = 10_000;

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
        let inner = Inner {
            accounts: Accounts::new(kv.clone(), ledger.clone(), clock.clone(), &settings),
            grabs: Grabs::new(
                kv.clone(),
                catalogue.clone(),
                ids(),
                metrics.clone(),
                clock.clone(),
                &settings,
            ),
            orders: Orders {
                kv: kv.clone(),
                ledger: ledger.clone(),
                catalogue: catalogue.clone(),
            },
            sales,
            dead: DeadLetters { kv: kv.clone(), ledger: ledger.clone() },
            board,
            limits: Limits::new(kv.clone(), metrics.clone(), &settings.rates),
            hub: Arc::new(OrderHub::new()),
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

    // Accounts.

    /// Makes a one-time code for a phone.
    pub async fn send_code(&self, phone: &Phone) -> Result<CodeSent, EngineError> {
        if let Some(wait) = self.inner.limits.code(phone).await {
            return Ok(CodeSent::Wait(wait));
        }
        self.inner.accounts.send_code(phone).await
    }

    /// Opens a session for whoever holds the phone's code.
    pub async fn log_in(&self, phone: &Phone, code: &str) -> Result<Session, LogInError> {
        if let Some(wait) = self.inner.limits.login(phone).await {
            return Err(EngineError::wait(wait).into());
        }
        self.inner.accounts.log_in(phone, code).await
    }

    /// Whose token this is.
    pub async fn session(&self, token: &str) -> Result<Option<UserId>, EngineError> {
        self.inner.accounts.session(token).await
    }

    /// Ends a session.
    pub async fn log_out(&self, token: &str) -> Result<(), EngineError> {
        self.inner.accounts.log_out(token).await
    }

    /// Ends all sessions of a user.
    pub async fn log_out_everywhere(&self, user: UserId) -> Result<(), EngineError> {
        self.inner.accounts.log_out_everywhere(user).await
    }

    /// An account.
    pub async fn account(&self, user: UserId) -> Result<Option<Account>, EngineError> {
        self.inner.accounts.account(user).await
    }

    /// Whether an account may steer sales.
    pub async fn is_admin(&self, user: UserId) -> Result<bool, EngineError> {
        self.inner.accounts.is_admin(user).await
    }

    /// Makes the phone's account an admin.
    pub async fn grant_admin(&self, phone: &Phone) -> Result<UserId, EngineError> {
        self.inner.accounts.grant_admin(phone).await
    }

    /// `n` load-test accounts, each with a fresh session. For demo mode alone.
    pub async fn mint_sessions(&self, n: u32) -> Result<Vec<(UserId, SessionToken)>, EngineError> {
        self.inner.accounts.mint(n).await
    }

    // Shopping.

    /// The recent vouchers, newest first.
    pub async fn vouchers(&self) -> Result<Vec<Voucher>, EngineError> {
        self.inner.sales.vouchers(&self.inner.catalogue.all()).await
    }

    /// The recent vouchers of a shop, newest first.
    pub async fn vouchers_of_shop(&self, shop_id: i64) -> Result<Vec<Voucher>, EngineError> {
        let mut rows = self.inner.catalogue.all();
        rows.retain(|row| row.shop_id == shop_id);
        self.inner.sales.vouchers(&rows).await
    }

    /// One voucher.
    pub async fn voucher(&self, id: VoucherId) -> Result<Option<Voucher>, EngineError> {
        match self.inner.catalogue.get(id).await? {
            Some(row) => Ok(self.inner.sales.vouchers(&[row]).await?.pop()),
            None => Ok(None),
        }
    }

    /// One attempt to get a unit.
    pub async fn grab(&self, user: UserId, voucher: VoucherId) -> Result<GrabOutcome, EngineError> {
        if let Some(wait) = self.inner.limits.grab(user).await {
            let retry_after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let outcome = GrabOutcome::RateLimited { retry_after_ms };
            self.inner.metrics.grab(&outcome);
            return Ok(outcome);
        }
        self.inner.grabs.grab(user, voucher).await
    }

    /// The user's order for a voucher.
    pub async fn order_for(&self, user: UserId, voucher: VoucherId) -> Result<Option<Order>, EngineError> {
        self.inner.orders.for_voucher(user, voucher).await
    }

    /// The user's orders, newest first.
    pub async fn orders(&self, user: UserId) -> Result<Vec<Order>, EngineError> {
        self.inner.orders.all(user).await
    }

    /// One order, if it is the user's.
    pub async fn order(&self, user: UserId, id: OrderId) -> Result<Option<Order>, EngineError> {
        self.inner.orders.by_id(user, id).await
    }

    /// Listens. Read the state after this call, then what it tells: nothing falls between.
    pub fn listen(&self, user: Option<UserId>) -> Live {
        Live {
            board: self.inner.board.subscribe(),
            orders: user.map(|user| self.inner.hub.subscribe(user)),
        }
    }

    /// The process's clock, for pages. Sales are judged by Redis' own.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    // Steering. The caller has checked the role.

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

    // Running.

    /// The consumers of this process, one a partition. Each runs in a task of its own; stepped by hand in tests.
    pub fn workers(&self, stop: &CancellationToken) -> Vec<Worker> {
        let inner = &self.inner;
        let worker = |partition| {
            let (kv, ledger, metrics) = (inner.kv.clone(), inner.ledger.clone(), inner.metrics.clone());
            Worker::new(
                kv,
                ledger,
                metrics,
                inner.clock.clone(),
                inner.settings.clone(),
                partition,
                stop.clone(),
            )
        };
        inner.kv.keys().partitions().map(worker).collect()
    }

    /// The guardian of this process. Runs in a task of its own; stepped by hand in tests.
    pub fn guardian(&self, stop: &CancellationToken) -> Guardian {
        let inner = &self.inner;
        Guardian::new(
            inner.kv.clone(),
            inner.ledger.clone(),
            inner.catalogue.clone(),
            inner.locks.clone(),
            inner.metrics.clone(),
            inner.clock.clone(),
            inner.settings.clone(),
            stop.clone(),
        )
    }

    /// Reads the stock for listeners, until stopped.
    pub async fn keep_board(&self, stop: &CancellationToken) {
        self.inner.board.run(stop).await;
    }

    /// Hears other processes' news, until stopped.
    pub async fn hear_news(&self, stop: &CancellationToken) {
        let inner = &self.inner;
        hear_news(
            &inner.kv,
            &inner.hub,
            &inner.accounts,
            &inner.catalogue,
            &inner.metrics,
            &inner.locks,
            stop,
        )
        .await;
    }

    /// Keeps the catalogue fresh, until stopped.
    pub async fn keep_catalogue(&self, stop: &CancellationToken) {
        let mut ticks = tokio::time::interval(RENEW_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.inner.catalogue.renew().await {
                if self.inner.metrics.trouble("catalogue") {
                    tracing::warn!(%error, "the catalogue could not be renewed; grabs go on");
                }
            }
        }
    }

    /// What Redis' settings mean for the promise; refused at start where they break it.
    pub async fn preflight(&self) -> Result<Vec<String>, EngineError> {
        let Some(redis) = self.inner.kv.preflight().await? else {
            return Ok(Vec::new());
        };
        let mut wrong = Vec::new();
        if redis.eviction != "noeviction" {
            wrong.push(format!(
                "maxmemory-policy is {}: set noeviction, or stock and orders vanish",
                redis.eviction
            ));
        }
        if !redis.append_only {
            wrong.push(
                "appendonly is off: set it to yes, or accepted orders are lost with the process".to_owned(),
            );
        }
        if redis.append_only && redis.fsync == "no" {
            wrong.push("appendfsync is no: set always (or everysec, which may lose a second)".to_owned());
        }
        Ok(wrong)
    }

    /// Whether the stores answer and the consumer moves.
    pub async fn readiness(&self) -> Readiness {
        let mut troubles = Vec::new();
        if self.inner.kv.probe_grab().await.is_err() {
            troubles.push("redis does not run the script");
        }
        match self.streams().await {
            Ok(streams) if streams.iter().any(|stream| stream.oldest_ms > Some(STUCK_MS)) => {
                troubles.push("entries wait and none settles");
            }
            Ok(_) => {}
            Err(_) => troubles.push("redis does not tell what waits"),
        }
        Readiness { troubles }
    }

    /// Reads the sales from the ledger now.
    pub async fn renew(&self) -> Result<(), EngineError> {
        self.inner.catalogue.renew().await
    }

    /// Notes in Redis that this shop is a demo.
    pub async fn mark_demo(&self) -> Result<(), EngineError> {
        Ok(self.inner.kv.mark_demo().await?)
    }

    /// Whether this shop was started in demo mode.
    pub async fn is_demo(&self) -> Result<bool, EngineError> {
        Ok(self.inner.kv.is_demo().await?)
    }

    /// Closes the pools.
    pub async fn close(&self) {
        self.inner.ledger.close().await;
    }
}
