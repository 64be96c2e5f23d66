//! Reading what clients send, with our own words for what is wrong with it.

use axum::{
    extract::{FromRequest, FromRequestParts, Path, Request, rejection::JsonRejection},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match axum::Json::<T>::from_request(request, state).await {
            Ok(axum::Json(body)) => Ok(Self(body)),
            Err(JsonRejection::JsonSyntaxError(_)) => Err(Problem::bad_json()),
            Err(JsonRejection::JsonDataError(_)) => Err(Problem::bad_body()),
            Err(JsonRejection::MissingJsonContentType(_)) => {
                let words = "Send the body as application/json.";
                Err(Problem::new(
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    "not_json",
                    words,
                ))
            }
            Err(other) if other.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                "The body is too large.",
            )),
            Err(_) => Err(Problem::bad_json()),
        }
    }
}

/// An id in the path. One that is none leads nowhere: 404.
pub(crate) struct PathId<T>(pub(crate) T);

impl<S: Send + Sync, T: std::str::FromStr> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, state)
            .await
            .map_err(|_| Problem::not_found())?;
        text.parse().map(Self).map_err(|_| Problem::not_found())
    }
}
