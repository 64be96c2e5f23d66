//! The sums that operators look at: loaded = live orders + left + in flight.

use std::sync::Arc;

use domain::VoucherId;
use serde::{Deserialize, Serialize};

use crate::{
    EngineError,
    catalogue::Catalogue,
    kv::Kv,
    ledger::{Ledger, orders, sales},
};

/// Sales summed up at once.
const SUMMED: usize = 50;

/// One sale's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SaleSum {
    /// Whose.
    pub voucher_id: VoucherId,
    /// Whether Redis holds the sale under the ledger's epoch.
    pub loaded: bool,
    /// Units published.
    pub published: i64,
    /// Sum of the stock changes since.
    pub changed: i64,
    /// `published + changed`.
    pub units: i64,
    /// Live orders in the ledger.
    pub live_orders: i64,
    /// Orders that failed; their units went back.
    pub failed_orders: i64,
    /// Units left in the ledger.
    pub ledger_stock: i64,
    /// Units left in Redis; absent while it does not hold the sale.
    pub redis_stock: Option<i64>,
    /// Claims in Redis that are no order in the ledger yet.
    pub in_flight: i64,
    /// Units that are nowhere: `units - live orders - left in Redis - in flight`. Exact at rest; while orders are on
    /// their way it may be off for a moment.
    pub drift: i64,
}

/// A partition's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StreamState {
    /// Its number.
    pub partition: u16,
    /// Entries that wait to be settled.
    pub waiting: u64,
    /// Of these, delivered and not acknowledged.
    pub pending: u64,
    /// Milliseconds that the oldest has waited, by Redis' clock; absent when none waits.
    pub oldest_ms: Option<u64>,
    /// Dead letters.
    pub dead: u64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Overview {
    /// The recent sales, newest first.
    pub sales: Vec<SaleSum>,
    /// The streams.
    pub streams: Vec<StreamState>,
}

/// Sums up the recent sales and the streams.
pub(crate) async fn overview(
    kv: &Kv,
    ledger: &Ledger,
    catalogue: &Arc<Catalogue>,
) -> Result<Overview, EngineError> {
    let mut sums = Vec::new();
    for sale in catalogue.all().into_iter().take(SUMMED) {
        if let Some(sum) = sum(kv, ledger, sale.id).await? {
            sums.push(sum);
        }
    }
    Ok(Overview {
        sales: sums,
        streams: streams(kv).await?,
    })
}

/// The streams.
pub(crate) async fn streams(kv: &Kv) -> Result<Vec<StreamState>, EngineError> {
    let (now, _) = kv.views(&[]).await?;
    let now = u64::try_from(now.millis()).unwrap_or(0);
    let mut states = Vec::new();
    for partition in kv.keys().partitions() {
        let waiting = kv.waiting(partition).await?;
        states.push(StreamState {
            partition: partition.number(),
            waiting: waiting.entries,
            pending: waiting.pending,
            oldest_ms: waiting.oldest_millis.map(|at| now.saturating_sub(at)),
            dead: waiting.dead,
        });
    }
    Ok(states)
}

/// Sums up one sale. Redis is read before the ledger: an order that settles in between is counted twice, never lost.
pub(crate) async fn sum(kv: &Kv, ledger: &Ledger, id: VoucherId) -> Result<Option<SaleSum>, EngineError> {
    let (_, views) = kv.views(&[id]).await?;
    let view = views.into_iter().next().flatten();
    let claims = kv.claim_count(id).await?;
    let Some(row) = sales::by_id(&ledger.pages, id).await? else {
        return Ok(None);
    };
    let (live, failed) = orders::counts(&ledger.pages, id).await?;
    let in_flight = if view.is_some() { claims - live } else { 0 };
    let left = view.as_ref().map(|view| view.stock);
    Ok(Some(SaleSum {
        voucher_id: id,
        loaded: view.is_some_and(|view| view.epoch == row.epoch),
        published: row.published,
        changed: row.initial - row.published,
        units: row.initial,
        live_orders: live,
        failed_orders: failed,
        ledger_stock: row.stock,
        redis_stock: left,
        in_flight,
        drift: left.map_or(0, |left| row.initial - live - left - in_flight),
    }))
}
