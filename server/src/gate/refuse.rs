//! The gate's refusals, in the form that whoever asked can read.

use std::time::Duration;

use app::Lang;
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

/// The words of the page.
struct Words {
    heading: &'static str,
    busy: &'static str,
    too_fast: &'static str,
    next: &'static str,
    home: &'static str,
}

impl Words {
    const EN: Self = Self {
        heading: "One moment, please",
        busy: "The shop is very busy. If you got a unit it is kept.",
        too_fast: "That was too fast. Nothing was done.",
        next: "Wait a few seconds, then go back and try again.",
        home: "To the shop",
    };
    const ZH: Self = Self {
        heading: "请稍候",
        busy: "当前访问人数过多。如果您已抢到，名额会为您保留。",
        too_fast: "操作过于频繁，本次没有生效。",
        next: "请等待几秒，返回后重试。",
        home: "返回首页",
    };
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
            return self.page(app::lang_of(request.headers()));
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
    fn page(self, lang: Lang) -> Response {
        let words = match lang {
            Lang::En => &Words::EN,
            Lang::Zh => &Words::ZH,
        };
        let (status, what) = match self {
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, words.busy),
            Self::TooFast(_) => (StatusCode::TOO_MANY_REQUESTS, words.too_fast),
        };
        let Words {
            heading, next, home, ..
        } = words;
        let html = format!(
            "<!doctype html><html lang=\"{}\"><meta name=\"viewport\" content=\"width=device-width\"><title>{heading}</title>\
             <h1>{heading}</h1><p>{what} {next}</p><p><a href=\"/\">{home}</a></p></html>",
            lang.tag()
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

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};

    use super::*;

    #[tokio::test]
    async fn a_browser_is_refused_in_its_own_language() {
        for (language, tag, word) in [
            ("zh-CN,zh;q=0.9", "zh-CN", "请稍候"),
            ("de,en;q=0.5", "en", "One moment"),
        ] {
            let request = Request::builder()
                .uri("/vouchers/1")
                .header(header::ACCEPT, "text/html,*/*")
                .header(header::ACCEPT_LANGUAGE, language)
                .body(Body::empty())
                .unwrap();
            let response = Refusal::TooFast(Duration::from_secs(2)).answer(&request);
            assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(response.headers()[header::RETRY_AFTER], "2");
            let page = to_bytes(response.into_body(), 4096).await.unwrap();
            let page = String::from_utf8(page.to_vec()).unwrap();
            assert!(
                page.contains(&format!("lang=\"{tag}\"")) && page.contains(word),
                "{page}"
            );
        }
    }
}
