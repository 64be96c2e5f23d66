//! Every answer that is not a success: status, stable code and words for people, in one place. Internal errors are
//! logged here and never leave the process.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{FieldErrors, GrabOutcome, OrderId};
use engine::{EngineError, LogInError, PublishError, SteerError};
use serde::Serialize;

/// A problem, as RFC 9457 has it, with a stable `code`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Problem {
    /// The HTTP status.
    status: u16,
    /// Stable, for programs.
    code: &'static str,
    /// For people: what happened and what to do.
    title: &'static str,
    /// The order that the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    order_id: Option<OrderId>,
    /// What is wrong, by field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<std::collections::BTreeMap<String, FieldProblem>>)]
    errors: Option<std::collections::BTreeMap<&'static str, FieldProblem>>,
    #[serde(skip)]
    retry_after: Option<u64>,
}

/// What is wrong with one field.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct FieldProblem {
    /// Stable, for programs.
    code: &'static str,
    /// For people.
    title: &'static str,
}

impl Problem {
    /// A problem with this status, code and words.
    pub(crate) const fn new(status: StatusCode, code: &'static str, title: &'static str) -> Self {
        Self {
            status: status.as_u16(),
            code,
            title,
            order_id: None,
            errors: None,
            retry_after: None,
        }
    }

    const fn order(mut self, id: OrderId) -> Self {
        self.order_id = Some(id);
        self
    }

    /// Sends `Retry-After`, in whole seconds.
    pub(crate) const fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) const fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "Log in first.")
    }

    pub(crate) const fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "This is for shop operators.")
    }

    pub(crate) const fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "There is nothing here.")
    }

    pub(crate) const fn busy() -> Self {
        let words =
            "The shop is very busy. If you got a unit it is kept: try again, you will get the same order.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", words).retry_after(1)
    }

    /// Refused for now: the caller is too fast.
    pub(crate) fn too_fast(wait: std::time::Duration) -> Self {
        let words = "That was too fast. Wait a moment, then try again.";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", words).retry_after(whole_seconds(wait))
    }

    /// Words for what the router or a layer refuses by itself.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::not_found(),
            StatusCode::METHOD_NOT_ALLOWED => Self::new(
                status,
                "method_not_allowed",
                "That can't be done to this address.",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => Self::too_large(),
            StatusCode::REQUEST_TIMEOUT => Self::new(
                status,
                "too_slow",
                "The request did not arrive in time. Nothing was done: send it again.",
            ),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => Self::busy(),
            _ if status.is_client_error() => {
                Self::new(status, "bad_request", "This request can't be understood.")
            }
            _ => Self::internal(),
        }
    }

    /// The body is larger than anything here takes.
    pub(crate) const fn too_large() -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            "The body is too large.",
        )
    }

    const fn internal() -> Self {
        let words = "Something went wrong on our side. Nothing was lost: try again in a moment.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", words)
    }

    pub(crate) const fn bad_json() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_json", "The body is not JSON.")
    }

    pub(crate) const fn bad_body() -> Self {
        let words = "A field is missing, unknown or of the wrong type.";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_body", words)
    }
}

/// For `Retry-After`: rounded up, at least one.
pub(crate) fn whole_seconds(wait: std::time::Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000))
        .unwrap_or(u64::MAX)
        .max(1)
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry_after = self.retry_after;
        let mut response = (status, Json(self)).into_response();
        let json = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = retry_after {
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        if let Some(wait) = error.too_fast() {
            Self::too_fast(wait)
        } else if error.is_passing() {
            tracing::warn!(%error, "a store is in trouble");
            Self::busy()
        } else {
            tracing::error!(%error, "an internal error");
            Self::internal()
        }
    }
}

impl From<FieldErrors> for Problem {
    fn from(errors: FieldErrors) -> Self {
        let errors = errors
            .into_iter()
            .map(|(field, error)| {
                (
                    field,
                    FieldProblem {
                        code: error.code,
                        title: error.text,
                    },
                )
            })
            .collect();
        let words = "Some fields are wrong; nothing was saved.";
        Self {
            errors: Some(errors),
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", words)
        }
    }
}

impl From<LogInError> for Problem {
    fn from(error: LogInError) -> Self {
        match error {
            LogInError::WrongCode => {
                let words = "The code is wrong or no longer good. Check it, or ask for a new one.";
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_code", words)
            }
            LogInError::Engine(error) => error.into(),
        }
    }
}

impl From<PublishError> for Problem {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Invalid(errors) => errors.into(),
            PublishError::Engine(error) => error.into(),
        }
    }
}

impl From<SteerError> for Problem {
    fn from(error: SteerError) -> Self {
        match error {
            SteerError::Unknown => Self::not_found(),
            SteerError::Ended => Self::new(
                StatusCode::CONFLICT,
                "ended",
                "The sale has ended for good; nothing was changed.",
            ),
            SteerError::Draft => {
                let words = "The sale is a draft: publish it first. Nothing was changed.";
                Self::new(StatusCode::CONFLICT, "draft", words)
            }
            SteerError::Over => {
                let words = "The sale's window lies in the past: move its end first. Nothing was changed.";
                Self::new(StatusCode::CONFLICT, "over", words)
            }
            SteerError::TooFewLeft => {
                let words = "Fewer units are left than you want to take; nothing was changed.";
                Self::new(StatusCode::CONFLICT, "too_few_left", words)
            }
            SteerError::NotLoaded => {
                let words =
                    "The sale is being loaded into Redis. What you set is saved and takes effect with it.";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", words).retry_after(1)
            }
            SteerError::Engine(error) => error.into(),
        }
    }
}

/// What a queued grab is answered with.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Queued {
    /// Always `queued`.
    outcome: &'static str,
    /// The order's id, the same everywhere from now on.
    order_id: OrderId,
}

/// The answer to a grab.
pub(crate) fn grab_answer(outcome: GrabOutcome) -> Response {
    let refusal = match outcome {
        GrabOutcome::Queued { order_id } => {
            return (
                StatusCode::ACCEPTED,
                Json(Queued {
                    outcome: "queued",
                    order_id,
                }),
            )
                .into_response();
        }
        GrabOutcome::AlreadyOrdered { order_id } => {
            let words = "You have this voucher already.";
            Problem::new(StatusCode::CONFLICT, "already_ordered", words).order(order_id)
        }
        GrabOutcome::SoldOut => Problem::new(StatusCode::GONE, "sold_out", "All units are gone."),
        GrabOutcome::Ended => Problem::new(StatusCode::GONE, "ended", "The sale is over."),
        GrabOutcome::NotStarted => Problem::new(
            StatusCode::TOO_EARLY,
            "not_started",
            "The sale has not opened yet.",
        ),
        GrabOutcome::Paused => Problem::new(
            StatusCode::LOCKED,
            "paused",
            "The sale is paused. It goes on later; nothing was taken.",
        ),
        GrabOutcome::RateLimited { retry_after_ms } => {
            Problem::too_fast(std::time::Duration::from_millis(retry_after_ms))
        }
        GrabOutcome::NotReady => {
            let words = "The sale is being prepared. Nothing was taken: try again in a moment.";
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", words).retry_after(1)
        }
        GrabOutcome::Busy => Problem::busy(),
        GrabOutcome::UnknownVoucher => Problem::not_found(),
    };
    refusal.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_status_code_and_headers() {
        let order_id = OrderId::new(9).unwrap();
        let table = [
            (GrabOutcome::Queued { order_id }, 202, false),
            (GrabOutcome::AlreadyOrdered { order_id }, 409, false),
            (GrabOutcome::SoldOut, 410, false),
            (GrabOutcome::Ended, 410, false),
            (GrabOutcome::NotStarted, 425, false),
            (GrabOutcome::Paused, 423, false),
            (GrabOutcome::RateLimited { retry_after_ms: 1001 }, 429, true),
            (GrabOutcome::NotReady, 503, true),
            (GrabOutcome::Busy, 503, true),
            (GrabOutcome::UnknownVoucher, 404, false),
        ];
        for (outcome, status, retries) in table {
            let response = grab_answer(outcome);
            assert_eq!(response.status().as_u16(), status, "{outcome:?}");
            assert_eq!(
                response.headers().contains_key(header::RETRY_AFTER),
                retries,
                "{outcome:?}"
            );
        }
        let limited = grab_answer(GrabOutcome::RateLimited { retry_after_ms: 1001 });
        assert_eq!(limited.headers()[header::RETRY_AFTER], "2");
    }
}
