//! The pages and their server functions, from the `app` crate, and the built site.

use std::path::Path;

use app::{Assets, PageContext};
use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header, request::Parts},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::VoucherId;
use leptos::{
    prelude::{provide_context, use_context},
    server_fn::ServerFn,
};
use leptos_axum::{LeptosRoutes, generate_route_list_with_exclusions, handle_server_fns_with_context};
use tower::ServiceBuilder;
use tower_http::{catch_panic::CatchPanicLayer, services::ServeDir};

use crate::{auth, problem::Problem, rest::PathId, state::AppState};

/// The grab button's server function. It goes the way of a grab, not the pages'.
const GRAB: &str = app::functions::Grab::PATH;

/// All pages, and their server functions but [`GRAB`].
pub(crate) fn router(state: &AppState) -> Router<AppState> {
    app::register();
    let assets = state.site.assets.clone();
    let fallback_assets = assets.clone();
    Router::new()
        .route(
            "/api/fn/{*name}",
            post(|request: Request| handle_server_fns_with_context(provide, request)),
        )
        .leptos_routes_with_context(
            state,
            generate_route_list_with_exclusions(app::App, Some(vec![GRAB.to_owned()])),
            provide,
            move || app::shell(&assets),
        )
        .route("/vouchers/{id}/calendar.ics", get(calendar))
        .fallback(leptos_axum::file_and_error_handler_with_context::<AppState, _>(
            provide,
            move |_| app::shell(&fallback_assets),
        ))
        .layer(middleware::from_fn_with_state(state.clone(), visitor))
}

/// A sale's opening, for a calendar.
async fn calendar(
    State(state): State<AppState>,
    PathId(id): PathId<VoucherId>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    let voucher = state.engine.voucher(id).await?.ok_or_else(Problem::not_found)?;
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let site = host.and_then(|host| host.split(':').next()).unwrap_or_default();
    let head = [
        (header::CONTENT_TYPE, "text/calendar; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("inline; filename=\"sale-{id}.ics\""),
        ),
    ];
    Ok((head, app::calendar::file(&voucher, site, state.engine.now())))
}

/// The function behind the grab button.
pub(crate) fn grab() -> Router<AppState> {
    let call = async |State(state): State<AppState>, mut request: Request| {
        meet(&state, &mut request).await;
        handle_server_fns_with_context(provide, request)
            .await
            .into_response()
    };
    Router::new()
        .route(GRAB, post(call))
        .layer(CatchPanicLayer::new())
}

/// The built site: hashed names that never change, compressed beforehand.
pub(crate) fn assets(site: &Path) -> Router<AppState> {
    let files = ServeDir::new(site.join("pkg"))
        .precompressed_br()
        .precompressed_gzip();
    let forever = ServiceBuilder::new().map_response(|mut response: Response<_>| {
        if response.status().is_success() {
            let year = HeaderValue::from_static("public, max-age=31536000, immutable");
            response.headers_mut().insert(header::CACHE_CONTROL, year);
        }
        response
    });
    Router::new().nest_service("/pkg", forever.service(files))
}

/// The names that the last build gave.
pub(crate) fn read_assets(site: &Path) -> anyhow::Result<Assets> {
    use anyhow::Context;
    let file = site.join("assets.json");
    let text = std::fs::read(&file).with_context(|| {
        format!(
            "{} is missing: build the site with `cargo xtask site`",
            file.display()
        )
    })?;
    Ok(serde_json::from_slice(&text)?)
}

/// Before a page.
async fn visitor(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    meet(&state, &mut request).await;
    next.run(request).await
}

/// Finds out who is asking, once a call.
async fn meet(state: &AppState, request: &mut Request) {
    let token = auth::token(request.headers(), &state.site).map(str::to_owned);
    let user = match &token {
        Some(token) => state.engine.session(token).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a page is shown as to a stranger");
            None
        }),
        None => None,
    };
    let context = PageContext {
        engine: state.engine.clone(),
        user,
        demo: state.site.demo,
        secure_cookies: state.site.tls,
        session_token: token,
    };
    request.extensions_mut().insert(context);
}

/// Hands what the middleware found to the page.
fn provide() {
    if let Some(parts) = use_context::<Parts>() {
        if let Some(context) = parts.extensions.get::<PageContext>() {
            provide_context(context.clone());
        }
        if let Some(nonce) = parts.extensions.get::<leptos::nonce::Nonce>() {
            provide_context(nonce.clone());
        }
    }
}
