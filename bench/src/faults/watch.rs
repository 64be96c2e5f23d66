//! Looks at both stores again and again while a scenario runs: what must hold at every moment is checked at every look.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::PgConnection;
use tokio::{sync::watch, task::AbortHandle};

use crate::stores::Database;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(40);

/// The extremes seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extremes {
    /// Looks that saw Redis, and those that saw the ledger.
    pub(crate) looks: (u64, u64),
    /// The lowest stock in Redis.
    pub(crate) lowest_stock: Option<i64>,
    /// The most live orders.
    pub(crate) most_live: i64,
    /// Most live orders of one user for one voucher.
    pub(crate) most_of_one: i64,
    /// The most deliveries of one entry.
    pub(crate) most_deliveries: i64,
    /// The longest stream.
    pub(crate) longest_stream: i64,
}

/// The running watch; ends with this value.
pub(crate) struct Watch {
    seen: Arc<Mutex<Extremes>>,
    redis: watch::Sender<String>,
    task: AbortHandle,
}

impl Watch {
    /// Begins.
    pub(crate) fn start(redis_url: String, database: Database, voucher: i64) -> Self {
        let seen = Arc::new(Mutex::new(Extremes::default()));
        let (redis, aimed) = watch::channel(redis_url);
        let task = tokio::spawn(run(aimed, database, voucher, seen.clone())).abort_handle();
        Self { seen, redis, task }
    }

    /// From now on it looks at this Redis.
    pub(crate) fn look_at(&self, redis_url: String) {
        self.redis.send_replace(redis_url);
    }

    /// What was seen so far.
    pub(crate) fn seen(&self) -> Extremes {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    mut redis_url: watch::Receiver<String>,
    database: Database,
    voucher: i64,
    seen: Arc<Mutex<Extremes>>,
) {
    let mut redis = None;
    let mut ledger: Option<PgConnection> = None;
    let note = |change: &dyn Fn(&mut Extremes)| {
        change(&mut seen.lock().unwrap_or_else(PoisonError::into_inner));
    };
    loop {
        if redis.is_none() || redis_url.has_changed().unwrap_or(false) {
            let url = redis_url.borrow_and_update().clone();
            redis = crate::stores::connect(&url).await.ok();
        }
        if let Some(con) = &mut redis {
            match look_at_redis(con, voucher).await {
                Ok((stock, length, deliveries)) => note(&|seen| {
                    seen.looks.0 += 1;
                    if let Some(stock) = stock {
                        seen.lowest_stock = Some(seen.lowest_stock.map_or(stock, |low| low.min(stock)));
                    }
                    seen.longest_stream = seen.longest_stream.max(length);
                    seen.most_deliveries = seen.most_deliveries.max(deliveries);
                }),
                Err(_) => redis = None,
            }
        }
        if ledger.is_none() {
            ledger = database.connect().await.ok();
        }
        if let Some(con) = &mut ledger {
            let looked = tokio::time::timeout(Duration::from_secs(5), look_at_ledger(con, voucher)).await;
            match looked {
                Ok(Ok((live, of_one))) => note(&|seen| {
                    seen.looks.1 += 1;
                    seen.most_live = seen.most_live.max(live);
                    seen.most_of_one = seen.most_of_one.max(of_one);
                }),
                _ => ledger = None,
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn look_at_redis(
    con: &mut redis::aio::MultiplexedConnection,
    voucher: i64,
) -> redis::RedisResult<(Option<i64>, i64, i64)> {
    let (stock, length): (Option<i64>, i64) = redis::pipe()
        .get(format!("seckill:stock:{voucher}:{{p0}}"))
        .cmd("XLEN")
        .arg("stream.orders:{p0}")
        .query_async(con)
        .await?;
    // Fails while there is no group, which is no concern of this look.
    let pending: redis::RedisResult<Vec<(String, String, i64, i64)>> = redis::cmd("XPENDING")
        .arg(&["stream.orders:{p0}", "g1", "-", "+", "100"])
        .query_async(con)
        .await;
    let deliveries = pending
        .unwrap_or_default()
        .iter()
        .map(|(.., n)| *n)
        .max()
        .unwrap_or(0);
    Ok((stock, length, deliveries))
}

async fn look_at_ledger(con: &mut PgConnection, voucher: i64) -> sqlx::Result<(i64, i64)> {
    sqlx::query_as(
        "SELECT coalesce(sum(n), 0)::bigint, coalesce(max(n), 0)::bigint FROM (SELECT count(*) AS n FROM voucher_order
         WHERE voucher_id = $1 AND state IN ('confirmed', 'paid', 'used') GROUP BY user_id) AS one",
    )
    .bind(voucher)
    .fetch_one(con)
    .await
}
