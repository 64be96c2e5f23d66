//! Pools, by purpose, and the migrations.

use std::{str::FromStr, time::Duration};

use sqlx::{
    ConnectOptions, PgPool, Postgres,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use super::LedgerError;

/// Statements that take effect together or not at all.
pub(crate) type Transaction = sqlx::Transaction<'static, Postgres>;

/// How PostgreSQL is reached.
#[derive(Debug, Clone)]
pub(crate) struct LedgerSettings {
    /// `postgresql://…`
    pub(crate) url: String,
    /// Connections for pages and admin calls.
    pub(crate) page_connections: u32,
    /// Connections for consumers.
    pub(crate) worker_connections: u32,
    /// The longest honest settle: a statement that takes longer is cancelled by the database.
    pub(crate) settle_timeout: Duration,
}

/// How long a page waits for a connection before it says "busy".
const PAGE_ACQUIRE: Duration = Duration::from_secs(2);
const WORKER_ACQUIRE: Duration = Duration::from_secs(5);
/// The longest statement of a page.
const PAGE_STATEMENT: Duration = Duration::from_secs(5);

/// The ledger. Two pools, so that a burst of pages never keeps the consumer waiting (R68). Cheap to clone.
#[derive(Clone)]
pub(crate) struct Ledger {
    /// For pages and admin calls.
    pub(crate) pages: PgPool,
    /// For the consumer and recovery.
    pub(crate) worker: PgPool,
}

impl Ledger {
    /// Makes the pools. Connections are opened when first needed, so that the shop comes up while PostgreSQL is away.
    pub(crate) fn open(settings: &LedgerSettings) -> Result<Self, LedgerError> {
        let options = |name: &str, statement: Duration| -> Result<PgConnectOptions, LedgerError> {
            let options = PgConnectOptions::from_str(&settings.url)?
                .application_name(name)
                .options([("statement_timeout", statement.as_millis().to_string())])
                .disable_statement_logging();
            Ok(options)
        };
        let pages = PgPoolOptions::new()
            .max_connections(settings.page_connections)
            .acquire_timeout(PAGE_ACQUIRE)
            .connect_lazy_with(options("seckill-pages", PAGE_STATEMENT)?);
        let worker = PgPoolOptions::new()
            .max_connections(settings.worker_connections)
            .acquire_timeout(WORKER_ACQUIRE)
            .connect_lazy_with(options("seckill-worker", settings.settle_timeout)?);
        Ok(Self { pages, worker })
    }

    /// Brings the schema up to date.
    pub(crate) async fn migrate(&self) -> Result<(), LedgerError> {
        let result = MIGRATOR.run(&self.pages).await;
        result.map_err(|error| match error {
            sqlx::migrate::MigrateError::Execute(error) => error.into(),
            other => LedgerError::Broken(other.to_string()),
        })
    }

    /// Whether the database answers and takes writes.
    pub(crate) async fn probe(&self) -> Result<(), LedgerError> {
        let read_only =
            sqlx::query_scalar!(r#"SELECT current_setting('transaction_read_only') = 'on' AS "read_only!""#)
                .fetch_one(&self.worker)
                .await?;
        if read_only {
            Err(LedgerError::Broken("the database takes no writes".into()))
        } else {
            Ok(())
        }
    }

    /// A transaction for pages and admin calls.
    pub(crate) async fn begin(&self) -> Result<Transaction, LedgerError> {
        Ok(self.pages.begin().await?)
    }

    /// A transaction for the consumer and recovery.
    pub(crate) async fn begin_settling(&self) -> Result<Transaction, LedgerError> {
        Ok(self.worker.begin().await?)
    }

    /// Connections of the pages and of the worker: open, and of these in nobody's hands.
    pub(crate) fn connections(&self) -> [(u32, u32); 2] {
        [&self.pages, &self.worker]
            .map(|pool| (pool.size(), u32::try_from(pool.num_idle()).unwrap_or(u32::MAX)))
    }

    /// Closes both pools.
    pub(crate) async fn close(&self) {
        self.pages.close().await;
        self.worker.close().await;
    }
}

/// The schema's steps, from `migrations/`.
#[expect(clippy::redundant_pub_crate, reason = "named by the migration tests")]
pub(crate) const MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!("../migrations");
