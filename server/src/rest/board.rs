//! The live board of one sale: what the console asks for once a second while somebody looks.

use axum::{Json, extract::State};
use domain::{SaleState, VoucherId};
use engine::{Engine, SaleSum, StreamState};
use prometheus_client::{encoding::text::encode, registry::Registry};
use serde::Serialize;

use super::PathId;
use crate::{auth::Admin, problem::Problem, state::AppState};

/// The gauge of open streams, as the metrics name it.
const STREAMS_OPEN: &str = "seckill_sse_open ";

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Board {
    /// The process's clock, so that a rate is a difference of two boards by it.
    now_ms: i64,
    /// By Redis' clock.
    state: SaleState,
    /// Where the sale's units are.
    #[schema(value_type = Object)]
    sum: SaleSum,
    /// What waits to be settled, of all sales.
    #[schema(value_type = Vec<Object>)]
    streams: Vec<StreamState>,
    /// Event streams open at this process.
    streams_open: Option<u64>,
}

/// A sale's units, the streams, and the listeners, now.
#[utoipa::path(get, path = "/api/v1/admin/vouchers/{id}/board", params(("id" = VoucherId, Path)), responses(
    (status = 200, body = Board),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn board(
    State(engine): State<Engine>,
    State(state): State<AppState>,
    Admin(_): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Board>, Problem> {
    let sum = engine.sum(id).await?.ok_or_else(Problem::not_found)?;
    let voucher = engine.voucher(id).await?.ok_or_else(Problem::not_found)?;
    Ok(Json(Board {
        now_ms: engine.now().millis(),
        state: voucher.state,
        sum,
        streams: engine.streams().await?,
        streams_open: streams_open(&state.registry),
    }))
}

/// Read from the metrics, where the gate counts them: this way the board and `/metrics` can't disagree.
fn streams_open(registry: &Registry) -> Option<u64> {
    let mut text = String::new();
    encode(&mut text, registry).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix(STREAMS_OPEN))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::gauge::Gauge;

    use super::*;

    #[test]
    fn open_streams_are_read_from_the_metrics() {
        let (mut registry, open) = (Registry::default(), Gauge::<i64>::default());
        assert_eq!(streams_open(&registry), None);
        registry.register("seckill_sse_open", "Event streams open", open.clone());
        open.set(3);
        assert_eq!(streams_open(&registry), Some(3));
    }
}
