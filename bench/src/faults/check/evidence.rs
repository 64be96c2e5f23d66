//! What both stores hold at rest, beside what clients saw.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Context;
use redis::aio::MultiplexedConnection;

use super::Expect;
use crate::{
    history::{Attempt, Sighting},
    http::Client,
    shop::{Sale, Shop},
    wait,
    watch::Extremes,
};

/// How long an order's page may take at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// An order in the ledger.
#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) user_id: i64,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
}

impl Row {
    /// Whether it holds a unit.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.state.as_str(), "confirmed" | "paid" | "used")
    }
}

/// The ledger's side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    pub(crate) units: i64,
    pub(crate) stock: i64,
    pub(crate) epoch: i64,
    pub(crate) rows: Vec<Row>,
    /// The unique index that forbids two live orders is there and valid.
    pub(crate) has_index: bool,
}

/// Redis' side.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    pub(crate) stock: Option<i64>,
    pub(crate) claims: BTreeMap<i64, i64>,
    pub(crate) entries: u64,
    pub(crate) dead: u64,
}

/// Everything that the rules look at.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) expect: Expect,
    pub(crate) sale: Sale,
    /// Account ids by place in the crowd.
    pub(crate) people: Vec<i64>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) sightings: Vec<Sighting>,
    pub(crate) extremes: Extremes,
    pub(crate) ledger: Ledger,
    pub(crate) held: Held,
    /// Every id that a client was told, and whom.
    pub(crate) accepted: BTreeMap<i64, usize>,
    /// What the API says of each of them at the end; `None`: it knows no such order.
    pub(crate) told: BTreeMap<i64, Result<Option<String>, String>>,
    /// How long the backlog took.
    pub(crate) settled: Result<Duration, String>,
    /// People who never got a final answer.
    pub(crate) late: Vec<usize>,
}

impl Evidence {
    /// Reads both stores and asks the API about every id.
    pub(super) async fn gather(
        shop: &Shop,
        expect: Expect,
        settled: Result<Duration, String>,
        late: Vec<usize>,
    ) -> anyhow::Result<Self> {
        let held = held(shop).await.context("Redis can't be read")?;
        let ledger = ledger(shop).await.context("the ledger can't be read")?;
        let attempts = shop.crowd.history.attempts();
        let accepted: BTreeMap<i64, usize> = attempts
            .iter()
            .filter_map(|attempt| Some((attempt.outcome.order()?, attempt.person)))
            .collect();
        let mut client = Client::new(shop.steward_port());
        let mut told = BTreeMap::new();
        for (order, person) in &accepted {
            told.insert(*order, last_word(shop, &mut client, *person, *order).await);
        }
        Ok(Self {
            expect,
            sale: shop.sale,
            people: shop.crowd.people().iter().map(|person| person.id).collect(),
            attempts,
            sightings: shop.crowd.history.sightings(),
            extremes: shop.watch.seen(),
            ledger,
            held,
            accepted,
            told,
            settled,
            late,
        })
    }

    /// Live orders.
    pub(crate) fn live(&self) -> impl Iterator<Item = &Row> {
        self.ledger.rows.iter().filter(|row| row.is_live())
    }

    /// Failed orders.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &Row> {
        self.ledger.rows.iter().filter(|row| row.state == "failed")
    }

    /// Accepted ids that no store knows.
    pub(crate) fn lost(&self) -> BTreeSet<i64> {
        let rows: BTreeSet<i64> = self.ledger.rows.iter().map(|row| row.id).collect();
        self.accepted
            .keys()
            .copied()
            .filter(|id| !rows.contains(id))
            .collect()
    }

    /// A line of figures for the report.
    pub(crate) fn measured(&self) -> String {
        let rest = self
            .settled
            .as_ref()
            .map_or("never".to_owned(), |took| format!("{took:.1?}"));
        format!(
            "attempts {}, at rest after {rest}, epoch {}, Redis stock {:?}, lowest {:?}, most deliveries {}, \
             longest stream {}, dead {}, looks {}/{}",
            self.attempts.len(),
            self.ledger.epoch,
            self.held.stock,
            self.extremes.lowest_stock,
            self.extremes.most_deliveries,
            self.extremes.longest_stream,
            self.held.dead,
            self.extremes.looks.0,
            self.extremes.looks.1,
        )
    }
}

/// What an owner is told at the end; a server that has just lost its store may say "busy" for a moment.
async fn last_word(
    shop: &Shop,
    client: &mut Client,
    person: usize,
    order: i64,
) -> Result<Option<String>, String> {
    let mut answer = None;
    let told = wait::until("an order's page answers", PATIENCE, async || {
        answer = Some(shop.crowd.look(client, person, order).await?);
        Ok(true)
    });
    match told.await {
        Ok(_) => Ok(answer.flatten()),
        Err(error) => Err(format!("{error:#}")),
    }
}

/// Entries in the stream, and how many of them are pending.
pub(super) async fn waiting(con: &mut MultiplexedConnection) -> anyhow::Result<(u64, u64)> {
    let stream = "stream.orders:{p0}";
    let entries: u64 = redis::cmd("XLEN").arg(stream).query_async(con).await?;
    let summary: redis::RedisResult<redis::Value> = redis::cmd("XPENDING")
        .arg(stream)
        .arg("g1")
        .query_async(con)
        .await;
    let pending = match summary {
        Ok(redis::Value::Array(parts)) => match parts.first() {
            Some(redis::Value::Int(n)) => u64::try_from(*n)?,
            _ => 0,
        },
        Ok(_) => 0,
        Err(error) if error.to_string().contains("NOGROUP") => 0,
        Err(error) => return Err(error.into()),
    };
    Ok((entries, pending))
}

/// Claims in Redis whose order the ledger does not have.
pub(super) async fn claims_without_order(shop: &Shop) -> anyhow::Result<usize> {
    let held = held(shop).await?;
    let live: BTreeSet<i64> = ledger(shop)
        .await?
        .rows
        .iter()
        .filter(|row| row.is_live())
        .map(|row| row.id)
        .collect();
    Ok(held.claims.values().filter(|id| !live.contains(id)).count())
}

async fn held(shop: &Shop) -> anyhow::Result<Held> {
    let mut con = shop.redis.connect().await?;
    let (entries, _) = waiting(&mut con).await?;
    let (stock, mut claims, dead): (Option<i64>, BTreeMap<i64, i64>, u64) = redis::pipe()
        .get(shop.stock_key())
        .hgetall(shop.claims_key())
        .cmd("XLEN")
        .arg("stream.dead:{p0}")
        .query_async(&mut con)
        .await?;
    // One field carries the epoch.
    claims.remove(&0);
    Ok(Held {
        stock,
        claims,
        entries,
        dead,
    })
}

async fn ledger(shop: &Shop) -> anyhow::Result<Ledger> {
    let mut con = shop.database.connect().await?;
    let (units, stock, epoch): (i64, i64, i64) = sqlx::query_as(
        "SELECT (initial + changed)::bigint, stock::bigint, epoch FROM seckill_voucher WHERE voucher_id = $1",
    )
    .bind(shop.sale.id)
    .fetch_one(&mut con)
    .await?;
    let rows = sqlx::query_as("SELECT id, user_id, state, reason FROM voucher_order WHERE voucher_id = $1")
        .bind(shop.sale.id)
        .fetch_all(&mut con)
        .await?;
    let has_index: bool = sqlx::query_scalar(
        "SELECT count(*) = 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE c.relname = 'order_one_live' AND i.indisunique AND i.indisvalid",
    )
    .fetch_one(&mut con)
    .await?;
    Ok(Ledger {
        units,
        stock,
        epoch,
        rows,
        has_index,
    })
}
