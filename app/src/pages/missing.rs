//! Pages for what is not there, can't be shown, or is not for everybody; and the way to the login.

use http::{HeaderValue, StatusCode, header};
use leptos::prelude::*;
use leptos_axum::ResponseOptions;

use super::frame::Frame;
use crate::{context, format::query_escaped};

/// The page for an address without a page.
#[component]
pub(crate) fn Missing() -> impl IntoView {
    missing()
}

/// Nothing is at this address.
pub(crate) fn missing() -> AnyView {
    status(StatusCode::NOT_FOUND);
    let texts = context::lang().pages();
    plain(texts.missing, texts.missing_lead)
}

/// No order of this shopper's has the number.
pub(crate) fn no_order() -> AnyView {
    status(StatusCode::NOT_FOUND);
    let texts = context::lang().pages();
    plain(texts.no_order, texts.no_order_lead)
}

/// A store does not answer. The page says so in our words; the reason is for the log.
pub(crate) fn broken(error: &engine::EngineError) -> AnyView {
    tracing::warn!(%error, "a page could not be rendered");
    status(StatusCode::SERVICE_UNAVAILABLE);
    let texts = context::lang().pages();
    plain(texts.broken, texts.broken_lead)
}

/// The account is none of an operator's.
pub(crate) fn forbidden() -> AnyView {
    status(StatusCode::FORBIDDEN);
    let texts = context::lang().admin();
    plain(texts.forbidden, texts.forbidden_lead)
}

/// Sends a stranger to the login, and back here from there.
pub(crate) fn to_login(next: &str) -> AnyView {
    if let (Some(response), Ok(to)) = (
        use_context::<ResponseOptions>(),
        HeaderValue::from_str(&format!("/login?next={}", query_escaped(next))),
    ) {
        response.set_status(StatusCode::SEE_OTHER);
        response.insert_header(header::LOCATION, to);
    }
    let texts = context::lang().pages();
    plain(texts.log_in, texts.log_in_lead)
}

fn status(status: StatusCode) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.set_status(status);
    }
}

fn plain(title: &'static str, lead: &'static str) -> AnyView {
    let texts = context::lang().pages();
    view! {
        <Frame title=title.to_owned()>
            <h1>{title}</h1>
            <p class="lead">{lead}</p>
            <p><a href="/">{texts.all_sales}</a></p>
        </Frame>
    }
    .into_any()
}
