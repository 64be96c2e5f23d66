//! What the functions share: who asks, where a plain form goes next, and what a failure is to people.

use std::str::FromStr;

use domain::UserId;
use engine::EngineError;
use http::{HeaderValue, StatusCode, header, request::Parts};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use super::Refusal;
use crate::{PageContext, format::query_escaped};

/// Reads an id, or whatever else has one text.
pub(crate) fn parsed<T: FromStr>(text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| refuse(Refusal::Invalid))
}

/// The context of this request.
pub(crate) fn context() -> Result<PageContext, Refusal> {
    use_context().ok_or_else(|| refuse(Refusal::Trouble))
}

/// Who asks. A stranger's form goes to the login, and from there to `next`.
pub(crate) fn signed_in(next: &str) -> Result<(PageContext, UserId), Refusal> {
    let context = context()?;
    let Some(user) = context.user else {
        see(&format!("/login?next={}", query_escaped(next)));
        return Err(refuse(Refusal::SignIn));
    };
    Ok((context, user))
}

/// Which operator asks: the role is asked of the ledger each time.
pub(crate) async fn operator(next: &str) -> Result<(PageContext, UserId), Refusal> {
    let (context, user) = signed_in(next)?;
    match context.engine.is_admin(user).await {
        Ok(true) => Ok((context, user)),
        Ok(false) => {
            see(next);
            Err(refuse(Refusal::Forbidden))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// A store's failure: the next attempt may work, or not; either way people get our words, not its text.
pub(crate) fn failed(error: &EngineError) -> Refusal {
    tracing::warn!(%error, "a page could not be served");
    refuse(Refusal::Trouble)
}

/// Gives a program the status that belongs to a refusal.
pub(crate) fn refuse(refusal: Refusal) -> Refusal {
    if !wants_page() {
        respond(|response| {
            response.set_status(match refusal {
                Refusal::SignIn => StatusCode::UNAUTHORIZED,
                Refusal::Forbidden => StatusCode::FORBIDDEN,
                Refusal::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
                Refusal::Trouble => StatusCode::SERVICE_UNAVAILABLE,
            });
        });
    }
    refusal
}

/// Sends a plain form to a page of ours; a program gets the value instead.
pub(crate) fn see(path: &str) {
    if let (true, Ok(path)) = (wants_page(), HeaderValue::from_str(path)) {
        respond(|response| {
            response.set_status(StatusCode::SEE_OTHER);
            response.insert_header(header::LOCATION, path);
        });
    }
}

/// Sets a cookie.
pub(crate) fn set_cookie(cookie: &str) {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        respond(|response| response.append_header(header::SET_COOKIE, cookie));
    }
}

fn wants_page() -> bool {
    use_context::<Parts>().is_some_and(|parts| {
        let accept = parts
            .headers
            .get(header::ACCEPT)
            .and_then(|value| value.to_str().ok());
        accept.is_some_and(|accept| accept.contains("text/html"))
    })
}

fn respond(with: impl FnOnce(&ResponseOptions)) {
    if let Some(response) = use_context::<ResponseOptions>() {
        with(&response);
    }
}
