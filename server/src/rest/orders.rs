//! One's own orders. Another's is 404.

use axum::{Json, extract::State};
use domain::{Order, OrderId, VoucherId};
use engine::Engine;
use serde::Serialize;

use super::PathId;
use crate::{auth::Shopper, problem::Problem};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Orders {
    /// Newest first.
    orders: Vec<Order>,
}

/// My order for a voucher.
#[utoipa::path(get, path = "/api/v1/vouchers/{id}/order", params(("id" = VoucherId, Path)), responses(
    (status = 200, body = Order),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn for_voucher(
    State(engine): State<Engine>,
    Shopper(user): Shopper,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Order>, Problem> {
    engine
        .order_for(user, id)
        .await?
        .map(Json)
        .ok_or_else(Problem::not_found)
}

/// My orders.
#[utoipa::path(get, path = "/api/v1/orders", responses((status = 200, body = Orders),
    (status = 401, body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn list(
    State(engine): State<Engine>,
    Shopper(user): Shopper,
) -> Result<Json<Orders>, Problem> {
    Ok(Json(Orders {
        orders: engine.orders(user).await?,
    }))
}

/// One of my orders.
#[utoipa::path(get, path = "/api/v1/orders/{id}", params(("id" = OrderId, Path)), responses(
    (status = 200, body = Order),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn one(
    State(engine): State<Engine>,
    Shopper(user): Shopper,
    PathId(id): PathId<OrderId>,
) -> Result<Json<Order>, Problem> {
    engine
        .order(user, id)
        .await?
        .map(Json)
        .ok_or_else(Problem::not_found)
}
