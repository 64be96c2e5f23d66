//! One id from click to row, and a clock on every route.
//!
//! The id comes with the call (`x-request-id`, from a proxy) or is minted; it goes back with the answer and stands on
//! every log line of the call. It lives in a task-local, not in a span: a span would cost each grab more than the grab.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        family::Family,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use tokio::time::Instant;

use crate::problem::Problem;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Server functions have routes of their own; what arrives here is none, and leptos would tell a developer why.
const NO_FUNCTION: &str = "/api/fn/{*name}";
/// The route of a call that fits none.
const NO_ROUTE: &str = "none";

tokio::task_local! {
    static ID: HeaderValue;
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    route: String,
    status: &'static str,
}

type Buckets = fn() -> Histogram;
/// A histogram a class of status, made when the first answer of that class is given.
type ByClass = [OnceLock<Histogram>; 5];

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Watches calls.
pub(crate) struct Observer {
    /// Tells this process's ids from another's.
    prefix: u32,
    next: AtomicU64,
    seconds: Family<Labels, Histogram, Buckets>,
    /// The histograms by route, one a status class: a look-up without an allocation.
    known: RwLock<HashMap<Box<str>, ByClass>>,
}

impl Observer {
    pub(crate) fn new(registry: &mut Registry) -> anyhow::Result<Self> {
        let seconds = Family::<Labels, Histogram, Buckets>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.000_25, 2.0, 16))
        });
        registry.register(
            "http_request_duration_seconds",
            "Time to the answer's head, by route and class of status",
            seconds.clone(),
        );
        Ok(Self {
            prefix: engine::chance()?,
            next: AtomicU64::new(0),
            seconds,
            known: RwLock::default(),
        })
    }

    /// The call's id: as it came, or a fresh one.
    pub(crate) fn id(&self, request: &Request) -> HeaderValue {
        let given = request
            .headers()
            .get(REQUEST_ID)
            .filter(|id| is_plain(id.as_bytes()));
        given.cloned().unwrap_or_else(|| {
            let mut number = [0; 12];
            number[..4].copy_from_slice(&self.prefix.to_be_bytes());
            number[4..].copy_from_slice(&self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes());
            let mut id = [0; 16];
            let written = URL_SAFE_NO_PAD.encode_slice(number, &mut id);
            HeaderValue::from_bytes(&id[..written.unwrap_or(0)]).unwrap_or(HeaderValue::from_static("-"))
        })
    }

    /// Notes how long a call of a route took.
    pub(crate) fn took(&self, route: &str, status: StatusCode, began: Instant) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        let seconds = began.elapsed().as_secs_f64();
        let observe = |known: &ByClass| {
            let histogram = known[class].get_or_init(|| {
                let (route, status) = (route.to_owned(), CLASSES[class]);
                self.seconds.get_or_create(&Labels { route, status }).clone()
            });
            histogram.observe(seconds);
        };
        if let Some(known) = self
            .known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(route)
        {
            return observe(known);
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        observe(known.entry(route.into()).or_default());
    }
}

/// Short, and nothing that could be a phone number or break a log line. Others' ids are welcome.
fn is_plain(id: &[u8]) -> bool {
    (8..=64).contains(&id.len())
        && id.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
        && !id.iter().all(u8::is_ascii_digit)
}

/// The id of the call that is being answered, for log lines.
pub(crate) fn with_id<T>(write: impl FnOnce(&str) -> T) -> Option<T> {
    ID.try_with(|id| id.to_str().ok().map(write)).ok().flatten()
}

/// Answers a call under its id.
pub(crate) async fn under<F: Future<Output = Response>>(id: HeaderValue, answer: F) -> Response {
    ID.scope(id, answer).await
}

/// Gives the call its id and takes its time.
pub(crate) async fn observe(
    State(observer): State<Arc<Observer>>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = observer.id(&request);
    let rest = request.uri().path().starts_with("/api/v1/")
        || matched
            .as_ref()
            .is_some_and(|route| route.as_str() == NO_FUNCTION);
    let response = ID.scope(id.clone(), next.run(request)).await;
    observer.took(
        matched.as_ref().map_or(NO_ROUTE, MatchedPath::as_str),
        response.status(),
        began,
    );
    let mut response = if rest { in_our_words(response) } else { response };
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// What layers and the router refuse by themselves has no body, or one for developers: clients get a problem.
pub(crate) fn in_our_words(response: Response) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let is_problem = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/problem+json");
    if is_problem {
        return response;
    }
    let mut told = Problem::of_status(status).into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        told.headers_mut().insert(header::ALLOW, allow.clone());
    }
    // Set by layers further in, or for the connection: they count for this answer too.
    for (name, value) in response.headers() {
        if name != header::CONTENT_TYPE
            && name != header::CONTENT_LENGTH
            && !told.headers().contains_key(name)
        {
            told.headers_mut().append(name.clone(), value.clone());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_outside_is_taken_if_it_is_plain() {
        assert!(is_plain(b"3f2a9c44-0001"));
        assert!(!is_plain(b"13800000000"), "a phone number");
        assert!(!is_plain(b"a b\"c=d{}") && !is_plain(b"short"));
    }
}
