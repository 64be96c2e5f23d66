//! The live board of one sale: what the console shows while somebody looks.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::{Request, State},
    response::Response,
};
use domain::{SaleState, VoucherId};
use engine::{SaleSum, StreamState};
use futures_util::stream;
use prometheus_client::{encoding::text::encode, registry::Registry};
use serde::Serialize;

use super::{
    PathId,
    events::{events, frame, goodbye},
};
use crate::{
    auth::{self, Admin},
    problem::Problem,
    state::AppState,
};

/// Between two boards.
const EVERY: Duration = Duration::from_secs(1);
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
    State(state): State<AppState>,
    Admin(_): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Board>, Problem> {
    Ok(Json(read(&state, id).await?))
}

/// The same once a second, as server-sent events. Session and role are looked at again each time: the stream ends with
/// either of them.
#[utoipa::path(get, path = "/api/v1/admin/vouchers/{id}/board/events", params(("id" = VoucherId, Path)), responses(
    (status = 200, description = "Events: board, bye", content_type = "text/event-stream", body = String),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn watch(
    State(state): State<AppState>,
    Admin(_): Admin,
    PathId(id): PathId<VoucherId>,
    request: Request,
) -> Result<Response, Problem> {
    let token = auth::token(request.headers(), &state.site)
        .unwrap_or_default()
        .to_owned();
    let first = frame("board", &read(&state, id).await?);
    let watcher = Watcher {
        state,
        token,
        id,
        ready: Some(first),
        over: false,
    };
    Ok(events(stream::unfold(watcher, |mut watcher| async move {
        let frame = watcher.next().await?;
        Some((Ok::<_, Infallible>(frame), watcher))
    })))
}

struct Watcher {
    state: AppState,
    token: String,
    id: VoucherId,
    ready: Option<Bytes>,
    over: bool,
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        if self.over {
            return None;
        }
        if let Some(first) = self.ready.take() {
            return Some(first);
        }
        let stop = self.state.stop.clone();
        if stop
            .run_until_cancelled(tokio::time::sleep(EVERY))
            .await
            .is_none()
        {
            self.over = true;
            return Some(goodbye());
        }
        // A store that does not answer ends the stream too: the page says so, and comes back.
        if !self.may_watch().await.unwrap_or(false) {
            return None;
        }
        let board = read(&self.state, self.id).await.ok()?;
        Some(frame("board", &board))
    }

    async fn may_watch(&self) -> Result<bool, engine::EngineError> {
        match self.state.engine.session(&self.token).await? {
            Some(user) => self.state.engine.is_admin(user).await,
            None => Ok(false),
        }
    }
}

async fn read(state: &AppState, id: VoucherId) -> Result<Board, Problem> {
    let engine = &state.engine;
    let sum = engine.sum(id).await?.ok_or_else(Problem::not_found)?;
    let voucher = engine.sale(id).await?.ok_or_else(Problem::not_found)?;
    Ok(Board {
        now_ms: engine.now().millis(),
        state: voucher.state,
        sum,
        streams: engine.streams().await?,
        streams_open: streams_open(&state.registry),
    })
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
