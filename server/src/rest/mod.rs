//! The REST API. Handlers parse, call one use case, and render.

mod admin;
mod board;
mod body;
mod console;
mod events;
mod orders;
mod session;
mod vouchers;

use axum::{
    Router,
    body::Bytes,
    http::{HeaderValue, header},
    routing::get,
};
use tower::ServiceBuilder;
use utoipa::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{problem::Problem, state::AppState};

pub(crate) use body::{Body, PathId};

#[derive(OpenApi)]
#[openapi(info(
    title = "Flash sale",
    description = "Ids are strings, times RFC 3339 UTC, money in cents. Errors are application/problem+json with a stable code."
))]
struct Api;

/// All of `/api/v1` but the grab, and the document that describes all of it.
pub(crate) fn router() -> Router<AppState> {
    let (router, mut document) = OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(session::send_code))
        .routes(routes!(session::log_in, session::log_out, session::who))
        .routes(routes!(vouchers::time))
        .routes(routes!(vouchers::list))
        .routes(routes!(vouchers::one))
        .routes(routes!(orders::for_voucher))
        .routes(routes!(orders::list))
        .routes(routes!(orders::one))
        .routes(routes!(events::listen))
        .routes(routes!(admin::create))
        .routes(routes!(admin::draft, admin::drafts))
        .routes(routes!(admin::publish))
        .routes(routes!(admin::stock))
        .routes(routes!(admin::pause))
        .routes(routes!(admin::resume))
        .routes(routes!(admin::end))
        .routes(routes!(admin::overview))
        .routes(routes!(admin::audit))
        .routes(routes!(board::board))
        .routes(routes!(board::watch))
        .routes(routes!(console::edit))
        .routes(routes!(console::dead))
        .routes(routes!(console::replay))
        .routes(routes!(console::release))
        .routes(routes!(console::report))
        .routes(routes!(console::orders))
        .split_for_parts();
    document.merge(grab_and_document().1);
    // Written once: a connection clones every handler with what it holds.
    let document = Bytes::from(document.to_json().unwrap_or_default());
    let json = [(header::CONTENT_TYPE, "application/json")];
    router
        .route(
            "/api/openapi.json",
            get(move || std::future::ready((json, document.clone()))),
        )
        .route("/api/v1", axum::routing::any(|| async { Problem::not_found() }))
        .route(
            "/api/v1/{*rest}",
            axum::routing::any(|| async { Problem::not_found() }),
        )
        .layer(
            ServiceBuilder::new().map_response(|mut response: axum::response::Response| {
                // Answers are personal or momentary; a stream says so for itself.
                let no_store = HeaderValue::from_static("no-store");
                response
                    .headers_mut()
                    .entry(header::CACHE_CONTROL)
                    .or_insert(no_store);
                response
            }),
        )
}

/// The grab, for the hot router.
pub(crate) fn grab() -> Router<AppState> {
    grab_and_document().0
}

fn grab_and_document() -> (Router<AppState>, utoipa::openapi::OpenApi) {
    OpenApiRouter::new()
        .routes(routes!(vouchers::grab))
        .split_for_parts()
}
