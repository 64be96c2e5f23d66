//! What the server hands to pages and functions with each request.

use domain::UserId;
use engine::Engine;
use http::{HeaderMap, header, request::Parts};
use leptos::prelude::use_context;
use serde::Deserialize;

use crate::texts::Lang;

/// The request's surroundings. The server provides it to the pages and to the functions alike.
#[derive(Clone)]
pub struct PageContext {
    /// The engine.
    pub engine: Engine,
    /// Who asks, if the session is known.
    pub user: Option<UserId>,
    /// Whether one-time codes are shown on the page.
    pub demo: bool,
    /// Whether cookies are for encrypted connections only.
    pub secure_cookies: bool,
    /// The session's secret, for logging out.
    pub session_token: Option<String>,
}

/// The hashed names of what the browser loads: `target/site/assets.json`.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Assets {
    /// The glue's path.
    pub js: String,
    /// The WASM's path.
    pub wasm: String,
    /// The style sheet's path.
    pub css: String,
}

/// The language of this request: the one that was chosen, else the browser's.
pub(crate) fn lang() -> Lang {
    use_context::<Parts>().map_or(Lang::En, |parts| lang_of(&parts.headers))
}

/// The language of a request with these headers: the one that was chosen, else the browser's.
pub fn lang_of(headers: &HeaderMap) -> Lang {
    if let Some(chosen) = cookie_of(headers, Lang::COOKIE).and_then(Lang::from_word) {
        return chosen;
    }
    let header = headers.get(header::ACCEPT_LANGUAGE);
    header
        .and_then(|value| value.to_str().ok())
        .map_or(Lang::En, Lang::accepted)
}

/// A cookie of this request.
pub(crate) fn cookie(name: &str) -> Option<String> {
    let parts = use_context::<Parts>()?;
    cookie_of(&parts.headers, name).map(str::to_owned)
}

fn cookie_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// The address of this request, within this site.
pub(crate) fn here() -> String {
    let parts = use_context::<Parts>();
    let address = parts.as_ref().and_then(|parts| parts.uri.path_and_query());
    address.map_or_else(|| "/".to_owned(), ToString::to_string)
}

/// A value in the query of this request's address; empty if it is not there.
pub(crate) fn query(name: &str) -> String {
    let parts = use_context::<Parts>();
    let query = parts
        .as_ref()
        .and_then(|parts| parts.uri.query())
        .unwrap_or_default();
    let value = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name);
    value
        .map(|(_, value)| crate::format::query_unescaped(&value.replace('+', " ")))
        .unwrap_or_default()
}
