//! Small requests to our own server.

use serde::de::DeserializeOwned;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Headers, RequestInit, Response};

/// How long an answer may take.
const PATIENCE_MS: u32 = 8000;

/// No answer arrived, or none that we understand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoAnswer;

impl From<JsValue> for NoAnswer {
    fn from(_: JsValue) -> Self {
        Self
    }
}

/// Reads a document; `None` where there is none.
pub(crate) async fn get<T: DeserializeOwned>(path: &str) -> Result<Option<T>, NoAnswer> {
    let (ok, text) = send("GET", path, None).await?;
    Ok(if ok { Some(read(&text)?) } else { None })
}

/// Calls a server function: its value, or its refusal.
pub(crate) async fn post<T: DeserializeOwned, E: DeserializeOwned>(
    path: &str,
    form: &str,
) -> Result<Result<T, E>, NoAnswer> {
    let (ok, text) = send("POST", path, Some(form)).await?;
    Ok(if ok { Ok(read(&text)?) } else { Err(read(&text)?) })
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, NoAnswer> {
    serde_json::from_str(text).map_err(|_| NoAnswer)
}

async fn send(method: &str, path: &str, form: Option<&str>) -> Result<(bool, String), NoAnswer> {
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
    let window = web_sys::window().ok_or(NoAnswer)?;
    let answer = JsFuture::from(window.fetch_with_str_and_init(path, &init)).await?;
    let answer: Response = answer.unchecked_into();
    let text = JsFuture::from(answer.text()?).await?;
    Ok((answer.ok(), text.as_string().ok_or(NoAnswer)?))
}
