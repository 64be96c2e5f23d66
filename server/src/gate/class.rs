//! What kind of call this is, from its method and path alone. A grab has a way of its own and is none of these.

use axum::http::Method;

/// The kinds of call that the gate tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Never refused: alive, ready, metrics, the built site.
    Free,
    /// A code or a login.
    LogIn,
    /// An event stream.
    Stream,
    /// Everything else.
    Page,
}

impl Class {
    pub(super) fn of(method: &Method, path: &str) -> Self {
        let post = method == Method::POST;
        match path {
            "/healthz" | "/readyz" | "/metrics" => Self::Free,
            "/api/v1/events" => Self::Stream,
            "/api/v1/session"
            | "/api/v1/session/code"
            | "/api/fn/log_in"
            | "/api/fn/send_code"
            | "/hmdp/user/login"
            | "/hmdp/user/code"
                if post =>
            {
                Self::LogIn
            }
            _ if path.starts_with("/api/v1/admin/vouchers/") && path.ends_with("/board/events") => {
                Self::Stream
            }
            _ if path.starts_with("/pkg/") => Self::Free,
            _ => Self::Page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_apart() {
        let post = |path| Class::of(&Method::POST, path);
        assert_eq!(post("/api/v1/session"), Class::LogIn);
        assert_eq!(Class::of(&Method::GET, "/api/v1/session"), Class::Page);
        assert_eq!(Class::of(&Method::GET, "/pkg/a.js"), Class::Free);
        assert_eq!(Class::of(&Method::GET, "/"), Class::Page);
    }
}
