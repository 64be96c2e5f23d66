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
            _ if is_board(path) => Self::Stream,
            _ if path.starts_with("/pkg/") => Self::Free,
            _ => Self::Page,
        }
    }
}

/// `/api/v1/admin/vouchers/{id}/board/events`
fn is_board(path: &str) -> bool {
    let id = path
        .strip_prefix("/api/v1/admin/vouchers/")
        .and_then(|rest| rest.strip_suffix("/board/events"));
    id.is_some_and(|id| !id.contains('/'))
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
        let board = "/api/v1/admin/vouchers/7/board";
        assert_eq!(Class::of(&Method::GET, board), Class::Page);
        assert_eq!(Class::of(&Method::GET, &format!("{board}/events")), Class::Stream);
    }
}
