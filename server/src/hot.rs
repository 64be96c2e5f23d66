//! The way of a grab. It has a router of its own with one layer, since each layer of a router boxes its routes once more:
//! the full stack of the other calls costs a grab more than the grab itself. What the stack does for the others stands
//! here in one function; what is left out is not needed on this way: Redis' own time-out ends a grab, and a grab takes no
//! body to speak of.

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, MatchedPath, Request, State},
    http::{HeaderValue, header},
    middleware::{self, Next},
    response::Response,
};
use tokio::time::Instant;
use tower::ServiceBuilder;

use crate::{
    gate::Gate,
    hmdp,
    observe::{self, Observer},
    rest, security,
    state::AppState,
};

/// The largest body of a grab: `{}` and some white space.
const BODY_LIMIT: usize = 1024;

/// What the way needs.
#[derive(Clone)]
struct Way {
    observer: Arc<Observer>,
    gate: Arc<Gate>,
}

/// The routes of a grab.
pub(crate) fn router(observer: Arc<Observer>, gate: Arc<Gate>) -> Router<AppState> {
    let layer = ServiceBuilder::new()
        .layer(middleware::from_fn_with_state(Way { observer, gate }, pass))
        .layer(security::cross_site())
        .layer(DefaultBodyLimit::max(BODY_LIMIT));
    Router::new().merge(rest::grab()).merge(hmdp::grab()).layer(layer)
}

/// The call's id and time, the gate, and the headers.
async fn pass(State(way): State<Way>, route: MatchedPath, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = way.observer.id(&request);
    let ours = request.uri().path().starts_with("/api/");
    let response = observe::under(id.clone(), way.gate.grab_or_refuse(request, next)).await;
    way.observer.took(route.as_str(), response.status(), began);
    let mut response = if ours {
        observe::in_our_words(response)
    } else {
        response
    };
    let headers = response.headers_mut();
    headers.reserve(4);
    headers.insert(observe::REQUEST_ID, id);
    headers.insert(header::CONTENT_SECURITY_POLICY, security::NOTHING);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
