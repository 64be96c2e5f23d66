//! What every answer carries, and what every request must pass.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use leptos::nonce::Nonce;
use tower_http::csrf::{CsrfLayer, ProtectionError};

use crate::{auth::SharedSite, problem::Problem};

/// The largest body that anything here takes.
pub(crate) const BODY_LIMIT: usize = 64 * 1024;

/// What may be loaded by an answer that is no page.
pub(crate) const NOTHING: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");

/// Refuses requests that another site's page makes in a visitor's name, by fetch metadata and origin.
pub(crate) fn cross_site() -> CsrfLayer<fn(ProtectionError) -> Response> {
    CsrfLayer::new().with_rejection_response(refused)
}

fn refused(_: ProtectionError) -> Response {
    let words = "This request came from another site. Nothing was done.";
    Problem::new(StatusCode::FORBIDDEN, "cross_site", words).into_response()
}

/// Mints the page's nonce and sets the headers.
pub(crate) async fn headers(State(site): State<SharedSite>, mut request: Request, next: Next) -> Response {
    let mut nonce: Arc<str> = Arc::default();
    // Programs' calls show no page, and the grab is one of them.
    if !["/api/v1/", "/hmdp/", "/pkg/"]
        .iter()
        .any(|calls| request.uri().path().starts_with(calls))
    {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_err() {
            return Problem::of_status(StatusCode::INTERNAL_SERVER_ERROR).into_response();
        }
        nonce = STANDARD_NO_PAD.encode(bytes).into();
        request.extensions_mut().insert(Nonce::from_value(nonce.clone()));
    }
    let mut response = next.run(request).await;
    let html = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let headers = response.headers_mut();
    let policy = if html {
        let text = format!(
            "default-src 'self'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self'; \
             connect-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; \
             form-action 'self'"
        );
        HeaderValue::from_str(&text).unwrap_or(NOTHING)
    } else {
        NOTHING
    };
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    let fixed: [(HeaderName, &'static str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=()",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if html {
        // A page is personal, and its nonce must not repeat.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if site.tls {
        let year = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    response
}
