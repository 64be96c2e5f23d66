//! Small requests to our own server.

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};

use super::json::Json;

/// How long an answer may take.
const PATIENCE_MS: u32 = 8000;
/// The wait where a refusal names none.
const SOME_SECONDS: u64 = 2;

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nothing arrived, or nothing that we understand.
    Lost,
    /// Too many requests: seconds to wait.
    SlowDown(u64),
    /// The server has too much to do.
    Busy,
    /// The server does not understand us: it is of another release.
    Stale,
}

impl From<JsValue> for NoAnswer {
    fn from(_: JsValue) -> Self {
        Self::Lost
    }
}

/// Reads a document; `None` where there is surely none.
pub(crate) async fn get(path: &str) -> Result<Option<Json>, NoAnswer> {
    let (answer, text) = send("GET", path, None).await?;
    match answer.status() {
        200 => Json::parse(&text).map(Some).ok_or(NoAnswer::Lost),
        404 => Ok(None),
        _ => Err(NoAnswer::Lost),
    }
}

/// Reads a page of ours.
pub(super) async fn page(path: &str) -> Result<String, NoAnswer> {
    let (answer, text) = send("GET", path, None).await?;
    if answer.ok() {
        Ok(text)
    } else {
        Err(NoAnswer::Lost)
    }
}

/// Calls a server function: its value, or its refusal.
pub(crate) async fn post(path: &str, form: &str) -> Result<Result<Json, Json>, NoAnswer> {
    let (answer, text) = send("POST", path, Some(form)).await?;
    match (Json::parse(&text), answer.status()) {
        (Some(value), 200) => Ok(Ok(value)),
        // Not every refusal is the function's own: that is a word.
        (Some(value), _) if value.text().is_some() => Ok(Err(value)),
        (_, 429) => Err(NoAnswer::SlowDown(seconds(&answer))),
        (_, 503) => Err(NoAnswer::Busy),
        (_, 400..=499) => Err(NoAnswer::Stale),
        _ => Err(NoAnswer::Lost),
    }
}

fn seconds(answer: &Response) -> u64 {
    let wait = answer.headers().get("retry-after").ok().flatten();
    wait.and_then(|wait| wait.parse().ok()).unwrap_or(SOME_SECONDS)
}

async fn send(method: &str, path: &str, form: Option<&str>) -> Result<(Response, String), NoAnswer> {
    let headers = Headers::new()?;
    headers.set("Accept", "application/json")?;
    let init = RequestInit::new();
    init.set_method(method);
    if let Some(form) = form {
        headers.set("Content-Type", "application/x-www-form-urlencoded")?;
        init.set_body(&JsValue::from_str(form));
    }
    init.set_headers(&headers);
    init.set_signal(Some(&AbortSignal::timeout_with_u32(PATIENCE_MS)));
    let window = web_sys::window().ok_or(NoAnswer::Lost)?;
    let answer = JsFuture::from(window.fetch_with_str_and_init(path, &init)).await?;
    let answer: Response = answer.unchecked_into();
    let text = JsFuture::from(answer.text()?).await?;
    Ok((answer, text.as_string().ok_or(NoAnswer::Lost)?))
}
