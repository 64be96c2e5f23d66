//! Vouchers, and the grab.

use axum::{Json, body::Bytes, extract::State, response::Response};
use domain::{Timestamp, Voucher, VoucherId};
use engine::Engine;
use serde::Serialize;

use super::PathId;
use crate::{
    auth::Shopper,
    problem::{self, Problem},
};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Time {
    /// The server's clock in Unix milliseconds.
    now_ms: i64,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Vouchers {
    /// Newest first.
    vouchers: Vec<Voucher>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct OneVoucher {
    voucher: Voucher,
    /// The server's clock.
    now: Timestamp,
}

/// The server's clock.
#[utoipa::path(get, path = "/api/v1/time", responses((status = 200, body = Time)))]
pub(crate) async fn time(State(engine): State<Engine>) -> Json<Time> {
    Json(Time {
        now_ms: engine.now().millis(),
    })
}

/// The recent vouchers.
#[utoipa::path(get, path = "/api/v1/vouchers", responses((status = 200, body = Vouchers),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn list(State(engine): State<Engine>) -> Result<Json<Vouchers>, Problem> {
    Ok(Json(Vouchers {
        vouchers: engine.vouchers().await?,
    }))
}

/// One voucher.
#[utoipa::path(get, path = "/api/v1/vouchers/{id}", params(("id" = VoucherId, Path)), responses(
    (status = 200, body = OneVoucher),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn one(
    State(engine): State<Engine>,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<OneVoucher>, Problem> {
    let voucher = engine.voucher(id).await?.ok_or_else(Problem::not_found)?;
    Ok(Json(OneVoucher {
        voucher,
        now: engine.now(),
    }))
}

/// One attempt to get a unit. The body is empty or `{}`: who and how many is not the client's to say.
#[utoipa::path(post, path = "/api/v1/vouchers/{id}/grab", params(("id" = VoucherId, Path)), responses(
    (status = 202, body = problem::Queued),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn grab(
    State(engine): State<Engine>,
    Shopper(user): Shopper,
    PathId(id): PathId<VoucherId>,
    body: Bytes,
) -> Result<Response, Problem> {
    if !body.trim_ascii().is_empty() {
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&body).map_err(|_| Problem::bad_json())?;
        if !fields.is_empty() {
            return Err(Problem::bad_body());
        }
    }
    Ok(problem::grab_answer(engine.grab(user, id).await?))
}
