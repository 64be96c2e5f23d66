//! Where a strategy sells: a table with a stock, a table of orders without any constraint that would save a wrong
//! strategy from itself, and Redis.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{sync::watch, time};

/// Every so many sections a pause hits between the check and the write, as a collector, a page fault or a slow disk
/// gives: longer than the simple lock lives.
const STALL_EVERY: u64 = 25;
const STALL: Duration = Duration::from_millis(700);
/// A pause that somebody waits for is there by then: a section takes milliseconds.
const STALL_BEGINS: Duration = Duration::from_secs(10);
/// As many as a small service has.
const CONNECTIONS: u32 = 10;

/// Addresses of the stores, as a child process is told them too.
#[derive(Debug, Clone)]
pub(crate) struct Addresses {
    /// PostgreSQL.
    pub(crate) database: String,
    /// The Redis that most use; the two more that Redlock asks; the replica that takes over from the first.
    pub(crate) redis: Vec<String>,
}

/// Where a strategy sells.
#[derive(Clone)]
pub(crate) struct Venue {
    /// Addresses.
    pub(crate) at: Addresses,
    /// The tables.
    pub(crate) pool: PgPool,
    /// Units.
    pub(crate) stock: i64,
    /// Where somebody pauses in the worst place.
    stalls: Option<Arc<Stalls>>,
}

#[derive(Default)]
struct Stalls {
    /// Sections so far.
    sections: AtomicU64,
    /// How many pause now.
    now: watch::Sender<usize>,
}

impl Venue {
    /// Connects.
    pub(crate) async fn open(at: Addresses, stock: i64, stalls: bool) -> Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect(&at.database)
            .await?;
        Ok(Self {
            at,
            pool,
            stock,
            stalls: stalls.then(Arc::default),
        })
    }

    /// Empties the tables and fills the stock.
    pub(crate) async fn fresh_sale(&self) -> Result<()> {
        let sql = "CREATE TABLE IF NOT EXISTS strategy_sale (stock bigint NOT NULL, version bigint NOT NULL DEFAULT 0);
             CREATE TABLE IF NOT EXISTS strategy_order (user_id bigint NOT NULL);
             CREATE INDEX IF NOT EXISTS strategy_order_user ON strategy_order (user_id);
             TRUNCATE strategy_sale, strategy_order, voucher_order;
             UPDATE seckill_voucher SET state = 'ended', stock = initial + changed WHERE state <> 'ended'";
        sqlx::raw_sql(sql).execute(&self.pool).await?;
        sqlx::query("INSERT INTO strategy_sale (stock) VALUES ($1)")
            .bind(self.stock)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The first `n` accounts.
    pub(crate) async fn users(&self, n: i64) -> Result<Vec<i64>> {
        let sql = "SELECT id FROM account ORDER BY id LIMIT $1";
        Ok(sqlx::query_scalar(sql).bind(n).fetch_all(&self.pool).await?)
    }

    /// Whose orders there are, one for each order.
    pub(crate) async fn owners(&self) -> Result<Vec<i64>> {
        let sql = "SELECT user_id FROM strategy_order UNION ALL
                   SELECT user_id FROM voucher_order WHERE state IN ('confirmed', 'paid', 'used')";
        Ok(sqlx::query_scalar(sql).fetch_all(&self.pool).await?)
    }

    /// Perhaps a pause; called between check and write by everything that has the two apart.
    pub(crate) async fn stall(&self) {
        if let Some(Stalls { sections, now }) = self.stalls.as_deref()
            && sections.fetch_add(1, Ordering::Relaxed) % STALL_EVERY == STALL_EVERY - 1
        {
            now.send_modify(|pausing| *pausing += 1);
            time::sleep(STALL).await;
            now.send_modify(|pausing| *pausing -= 1);
        }
    }

    /// Until somebody pauses between check and write: the moment in which a lock that is lost does harm.
    pub(crate) async fn somebody_stalls(&self) -> Result<()> {
        let stalls = self.stalls.as_deref().context("nobody pauses in this run")?;
        let mut now = stalls.now.subscribe();
        time::timeout(STALL_BEGINS, now.wait_for(|pausing| *pausing > 0)).await??;
        Ok(())
    }
}
