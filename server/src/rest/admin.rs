//! Steering sales. Each handler takes [`Admin`], which checks the role.

use axum::{Json, extract::State, http::StatusCode};
use domain::{Control, SaleDraft, StockDelta, Voucher, VoucherId};
use engine::{AuditLine, Engine, Overview};
use serde::{Deserialize, Serialize};

use super::{Body, PathId};
use crate::{auth::Admin, problem::Problem};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Changed {
    voucher: Voucher,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StockChange {
    /// Units to add or, below zero, to take.
    delta: i64,
    /// Why, in one line.
    reason: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Audit {
    /// Newest first.
    lines: Vec<AuditLine>,
}

async fn changed(engine: &Engine, id: VoucherId) -> Result<Json<Changed>, Problem> {
    Ok(Json(Changed {
        voucher: engine.sale(id).await?.ok_or_else(Problem::not_found)?,
    }))
}

/// Creates a sale and publishes it.
#[utoipa::path(post, path = "/api/v1/admin/vouchers", request_body = SaleDraft, responses(
    (status = 201, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn create(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    Body(draft): Body<SaleDraft>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    let voucher = engine.publish(Some(actor), 1, draft).await?;
    Ok((StatusCode::CREATED, Json(Changed { voucher })))
}

/// Writes a draft: shoppers don't see it until it is published.
#[utoipa::path(post, path = "/api/v1/admin/drafts", request_body = SaleDraft, responses(
    (status = 201, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn draft(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    Body(draft): Body<SaleDraft>,
) -> Result<(StatusCode, Json<Changed>), Problem> {
    let id = engine.draft(actor, 1, draft).await?;
    Ok((StatusCode::CREATED, changed(&engine, id).await?))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Drafts {
    /// Newest first.
    drafts: Vec<Voucher>,
}

/// The drafts.
#[utoipa::path(get, path = "/api/v1/admin/drafts", responses((status = 200, body = Drafts),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn drafts(State(engine): State<Engine>, Admin(_): Admin) -> Result<Json<Drafts>, Problem> {
    Ok(Json(Drafts {
        drafts: engine.drafts().await?,
    }))
}

/// Publishes a draft.
#[utoipa::path(post, path = "/api/v1/admin/vouchers/{id}/publish", params(("id" = VoucherId, Path)),
    responses((status = 200, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn publish(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Changed>, Problem> {
    engine.open(actor, id).await?;
    changed(&engine, id).await
}

/// Adds or takes units.
#[utoipa::path(post, path = "/api/v1/admin/vouchers/{id}/stock", params(("id" = VoucherId, Path)),
    request_body = StockChange, responses((status = 200, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn stock(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<VoucherId>,
    Body(change): Body<StockChange>,
) -> Result<Json<Changed>, Problem> {
    let change = StockDelta::check(change.delta, &change.reason)?;
    engine.restock(actor, id, &change).await?;
    changed(&engine, id).await
}

/// Stops a sale for now.
#[utoipa::path(post, path = "/api/v1/admin/vouchers/{id}/pause", params(("id" = VoucherId, Path)),
    responses((status = 200, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn pause(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Changed>, Problem> {
    engine.steer(actor, id, Control::Paused).await?;
    changed(&engine, id).await
}

/// Lets a paused sale go on.
#[utoipa::path(post, path = "/api/v1/admin/vouchers/{id}/resume", params(("id" = VoucherId, Path)),
    responses((status = 200, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn resume(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Changed>, Problem> {
    engine.steer(actor, id, Control::Running).await?;
    changed(&engine, id).await
}

/// Ends a sale for good.
#[utoipa::path(post, path = "/api/v1/admin/vouchers/{id}/end", params(("id" = VoucherId, Path)),
    responses((status = 200, body = Changed),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn end(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Changed>, Problem> {
    engine.steer(actor, id, Control::Ended).await?;
    changed(&engine, id).await
}

/// The sums: loaded = live orders + left + in flight.
#[utoipa::path(get, path = "/api/v1/admin/overview", responses(
    (status = 200, description = "Sums by sale and stream", body = Overview),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn overview(
    State(engine): State<Engine>,
    Admin(_): Admin,
) -> Result<Json<Overview>, Problem> {
    Ok(Json(engine.overview().await?))
}

/// Who did what to a sale.
#[utoipa::path(get, path = "/api/v1/admin/vouchers/{id}/audit", params(("id" = VoucherId, Path)), responses(
    (status = 200, body = Audit),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn audit(
    State(engine): State<Engine>,
    Admin(_): Admin,
    PathId(id): PathId<VoucherId>,
) -> Result<Json<Audit>, Problem> {
    Ok(Json(Audit {
        lines: engine.audit(id).await?,
    }))
}
