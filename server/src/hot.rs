//! The way of a grab. It has a router of its own with one layer, since each layer of a router boxes its routes once more:
//! the full stack of the other calls costs a grab more than the grab itself. What the stack does for the others stands
//! here in one function; what is left out is not needed on this way: Redis' own time-out ends a grab.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, HttpBody, to_bytes},
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use tokio::time::{Instant, timeout};
use tower::ServiceBuilder;

use crate::{
    gate::Gate,
    hmdp,
    observe::{self, Observer},
    pages,
    problem::Problem,
    rest, security,
    state::AppState,
};

/// The largest body of a grab: `{}`, or a form with one id.
const BODY_LIMIT: usize = 1024;
/// The longest that such a body may take. It is there before the gate counts the grab: whoever sends slowly must not keep
/// a place from others.
const BODY_PATIENCE: Duration = Duration::from_secs(5);

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
        .layer(security::cross_site());
    let routes = rest::grab().merge(hmdp::grab()).merge(pages::grab());
    routes.layer(layer)
}

/// The call's id and time, the gate, and the headers.
async fn pass(State(way): State<Way>, route: MatchedPath, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = way.observer.id(&request);
    let path = request.uri().path();
    let (rest, old) = (path.starts_with("/api/v1/"), path.starts_with("/hmdp/"));
    let answer = async {
        match received(request).await {
            Ok(request) => way.gate.grab_or_refuse(request, next).await,
            // hmdp's clients read the body alone.
            Err(_) if old => hmdp::fail("请求无效，请重试"),
            Err(refused) => refused.into_response(),
        }
    };
    let response = observe::under(id.clone(), answer).await;
    way.observer.took(route.as_str(), response.status(), began);
    let mut response = if rest {
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

/// The request with its whole body.
async fn received(request: Request) -> Result<Request, Problem> {
    if request.body().is_end_stream() {
        return Ok(request);
    }
    let (head, body) = request.into_parts();
    match timeout(BODY_PATIENCE, to_bytes(body, BODY_LIMIT)).await {
        Ok(Ok(body)) => Ok(Request::from_parts(head, Body::from(body))),
        Ok(Err(_)) => Err(Problem::of_status(StatusCode::PAYLOAD_TOO_LARGE)),
        Err(_) => Err(Problem::of_status(StatusCode::REQUEST_TIMEOUT)),
    }
}
