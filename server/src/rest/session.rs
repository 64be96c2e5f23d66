//! Logging in and out.

use axum::{
    Json,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header::SET_COOKIE},
    response::{IntoResponse, Response},
};
use domain::{Account, Phone};
use engine::{CodeSent, Engine};
use serde::{Deserialize, Serialize};

use super::Body;
use crate::{
    auth::{self, SharedSite, Shopper},
    problem::Problem,
};

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CodeRequest {
    /// Eleven digits.
    #[schema(pattern = "^1[3-9][0-9]{9}$")]
    phone: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct DemoCode {
    /// Six digits.
    code: String,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogIn {
    /// Eleven digits.
    #[schema(pattern = "^1[3-9][0-9]{9}$")]
    phone: String,
    /// Six digits.
    code: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Who {
    /// The account.
    user: Account,
}

/// Reads a phone number.
pub(crate) fn phone(text: &str) -> Result<Phone, Problem> {
    let words = "A phone number has eleven digits and begins with 1, like 13800000000.";
    text.parse()
        .map_err(|_| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_phone", words))
}

/// The refusal while an unused code is young.
pub(crate) fn code_pause(wait: std::time::Duration) -> Problem {
    let words = "A code was sent a moment ago. Use it, or wait a little for another.";
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", words).retry_after(wait.as_secs() + 1)
}

/// Sends a one-time code.
#[utoipa::path(post, path = "/api/v1/session/code", request_body = CodeRequest, responses(
    (status = 200, description = "Demo mode: the code itself", body = DemoCode),
    (status = 204, description = "Sent"),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn send_code(
    State(engine): State<Engine>,
    State(site): State<SharedSite>,
    Body(request): Body<CodeRequest>,
) -> Result<Response, Problem> {
    match engine.send_code(&phone(&request.phone)?).await? {
        CodeSent::Sent { code } if site.demo => Ok(Json(DemoCode { code }).into_response()),
        CodeSent::Sent { .. } => Ok(StatusCode::NO_CONTENT.into_response()),
        CodeSent::Wait(wait) => Err(code_pause(wait)),
    }
}

/// Opens a session; the cookie carries it.
#[utoipa::path(post, path = "/api/v1/session", request_body = LogIn, responses(
    (status = 200, body = Who),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn log_in(
    State(engine): State<Engine>,
    State(site): State<SharedSite>,
    Body(request): Body<LogIn>,
) -> Result<Response, Problem> {
    let session = engine.log_in(&phone(&request.phone)?, &request.code).await?;
    let mut response = Json(Who {
        user: session.account,
    })
    .into_response();
    if let Some(cookie) = auth::set_cookie(&site, Some(&session.token)) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LogOut {
    /// Ends all sessions of the account, on every device.
    #[serde(default)]
    everywhere: bool,
}

/// Ends the session, or all sessions of its account.
#[utoipa::path(delete, path = "/api/v1/session", params(LogOut), responses(
    (status = 204, description = "Ended, or there was none"),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn log_out(
    State(engine): State<Engine>,
    State(site): State<SharedSite>,
    Query(wish): Query<LogOut>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if let Some(token) = auth::token(&headers, &site) {
        if wish.everywhere
            && let Some(user) = engine.session(token).await?
        {
            engine.log_out_everywhere(user).await?;
        }
        engine.log_out(token).await?;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Some(cookie) = auth::set_cookie(&site, None) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Whose session this is.
#[utoipa::path(get, path = "/api/v1/session", responses(
    (status = 200, body = Who),
    (status = 401, body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn who(State(engine): State<Engine>, Shopper(user): Shopper) -> Result<Json<Who>, Problem> {
    let user = engine.account(user).await?.ok_or_else(Problem::unauthorized)?;
    Ok(Json(Who { user }))
}
