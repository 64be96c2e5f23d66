//! The sums that operators look at: loaded = live orders + left + in flight.

use std::sync::Arc;

use domain::VoucherId;
use serde::{Deserialize, Serialize};

use crate::{
    EngineError,
    catalogue::Catalogue,
    kv::Kv,
    ledger::{Ledger, sums as rows},
};

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
    let ids: Vec<VoucherId> = catalogue.all().iter().map(|sale| sale.id).collect();
    Ok(Overview {
        sales: sums(kv, ledger, &ids).await?,
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

/// Sums up one sale.
pub(crate) async fn sum(kv: &Kv, ledger: &Ledger, id: VoucherId) -> Result<Option<SaleSum>, EngineError> {
    Ok(sums(kv, ledger, &[id]).await?.pop())
}

/// Sums sales up, in their order; one that the ledger does not know is left out. Redis is read before the ledger: an order
/// that settles in between is counted twice, never lost.
async fn sums(kv: &Kv, ledger: &Ledger, ids: &[VoucherId]) -> Result<Vec<SaleSum>, EngineError> {
    let (_, views) = kv.views(ids).await?;
    let claims = kv.claim_counts(ids).await?;
    let rows = rows::of(&ledger.pages, ids).await?;
    let held = ids.iter().zip(views.into_iter().zip(claims));
    let sums = held.filter_map(|(id, (view, claims))| {
        let row = rows.get(id)?;
        let in_flight = if view.is_some() { claims - row.live } else { 0 };
        let left = view.as_ref().map(|view| view.stock);
        Some(SaleSum {
            voucher_id: *id,
            loaded: view.is_some_and(|view| view.epoch == row.epoch),
            published: row.published,
            changed: row.changed,
            units: row.published + row.changed,
            live_orders: row.live,
            failed_orders: row.failed,
            ledger_stock: row.stock,
            redis_stock: left,
            in_flight,
            drift: left.map_or(0, |left| {
                row.published + row.changed - row.live - left - in_flight
            }),
        })
    });
    Ok(sums.collect())
}
