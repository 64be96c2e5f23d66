//! The gate's refusals, in the form that whoever asked can read.

use std::time::Duration;

use axum::{
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use serde_json::json;

use crate::problem::{Problem, whole_seconds};

/// Why a call is refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Refusal {
    /// Too many are under way.
    Busy,
    /// Too many from there, for this long.
    TooFast(Duration),
}

impl Refusal {
    pub(super) fn answer(self, request: &Request) -> Response {
        let path = request.uri().path();
        if path.starts_with("/hmdp/") {
            return self.hmdp();
        }
        let wants_page = request
            .headers()
            .get(header::ACCEPT)
            .is_some_and(|accept| accept.as_bytes().starts_with(b"text/html"));
        if wants_page && !path.starts_with("/api/v1/") {
            return self.page();
        }
        match self {
            Self::Busy => Problem::busy(),
            Self::TooFast(wait) => Problem::too_fast(wait),
        }
        .into_response()
    }

    fn seconds(self) -> u64 {
        match self {
            Self::Busy => 1,
            Self::TooFast(wait) => whole_seconds(wait),
        }
    }

    /// For a browser without scripts, or one that is on its way to a page.
    fn page(self) -> Response {
        let (status, words) = match self {
            Self::Busy => (
                StatusCode::SERVICE_UNAVAILABLE,
                "The shop is very busy. If you got a unit it is kept.",
            ),
            Self::TooFast(_) => (
                StatusCode::TOO_MANY_REQUESTS,
                "That was too fast. Nothing was done.",
            ),
        };
        let html = format!(
            "<!doctype html><html lang=\"en\"><title>One moment</title><h1>One moment, please</h1><p>{words} \
             Wait a few seconds, then go back and try again.</p><p><a href=\"/\">To the shop</a></p></html>"
        );
        self.later((status, Html(html)).into_response())
    }

    /// hmdp's clients read the body alone.
    fn hmdp(self) -> Response {
        let words = match self {
            Self::Busy => "服务器繁忙，请稍后重试",
            Self::TooFast(_) => "操作过于频繁，请稍后重试",
        };
        self.later(axum::Json(json!({"success": false, "errorMsg": words})).into_response())
    }

    fn later(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(self.seconds()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}
