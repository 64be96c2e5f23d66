//! For those who run it: alive, ready, metrics.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;

use crate::{gauges::Gauges, state::AppState};

/// The operators' routes.
pub(crate) fn router(gauges: Arc<Gauges>) -> Router<AppState> {
    Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics).layer(Extension(gauges)))
}

/// The process answers.
async fn alive() -> &'static str {
    "alive\n"
}

/// The process can do its work: the real script runs and the consumer moves.
async fn ready(State(state): State<AppState>) -> Response {
    let mut troubles = state.engine.readiness().await.troubles;
    if state.stop.is_cancelled() {
        troubles.push("going away");
    }
    let status = if troubles.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (
        status,
        Json(json!({"ready": troubles.is_empty(), "troubles": troubles})),
    )
        .into_response()
}

async fn metrics(State(state): State<AppState>, Extension(gauges): Extension<Arc<Gauges>>) -> Response {
    gauges.refresh(&state.engine).await;
    let mut text = String::new();
    if prometheus_client::encoding::text::encode(&mut text, &state.registry).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    (
        [(
            header::CONTENT_TYPE,
            "application/openmetrics-text; version=1.0.0; charset=utf-8",
        )],
        text,
    )
        .into_response()
}
