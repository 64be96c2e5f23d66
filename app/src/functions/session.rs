//! Logging in and out.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::Refusal;

/// What became of a request for a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeAnswer {
    /// On its way to the phone.
    Sent,
    /// Demo mode: here it is.
    Shown(String),
    /// One was sent moments ago: seconds to wait.
    Wait(u64),
    /// That is no phone number.
    BadPhone,
}

/// What became of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogInAnswer {
    /// Logged in; the cookie is set.
    In,
    /// Wrong, used up, or too old.
    WrongCode,
    /// That is no phone number.
    BadPhone,
}

/// Sends a one-time code to a phone.
#[server(name = SendCode, prefix = "/api/fn", endpoint = "send_code")]
pub async fn send_code(
    /// The phone number, as typed.
    #[server(default)]
    phone: String,
    /// Where to go after the login.
    #[server(default)]
    next: String,
) -> Result<CodeAnswer, Refusal> {
    use engine::CodeSent;
    use tools::{back, remember};

    let context = super::reply::context()?;
    let Ok(number) = phone.trim().parse::<domain::Phone>() else {
        remember(&context, &phone, None);
        back(&next, "bad_phone");
        return Ok(CodeAnswer::BadPhone);
    };
    let sent = context.engine.send_code(&number).await;
    match sent.map_err(|error| {
        back(&next, "trouble");
        super::reply::failed(&error)
    })? {
        CodeSent::Sent { code } => {
            let shown = context.demo.then_some(code);
            remember(&context, number.as_str(), shown.as_deref());
            back(&next, "sent");
            Ok(shown.map_or(CodeAnswer::Sent, CodeAnswer::Shown))
        }
        CodeSent::Wait(wait) => {
            remember(&context, number.as_str(), None);
            let seconds = wait.as_secs().max(1);
            back(&next, &format!("wait&wait={seconds}"));
            Ok(CodeAnswer::Wait(seconds))
        }
    }
}

/// Opens a session for whoever holds the phone's code.
#[server(name = LogIn, prefix = "/api/fn", endpoint = "log_in")]
pub async fn log_in(
    /// The phone number, as typed.
    #[server(default)]
    phone: String,
    /// The code, as typed.
    #[server(default)]
    code: String,
    /// Where to go then.
    #[server(default)]
    next: String,
) -> Result<LogInAnswer, Refusal> {
    use engine::LogInError;
    use tools::{back, forget, remember, session_cookie};

    let context = super::reply::context()?;
    let Ok(number) = phone.trim().parse::<domain::Phone>() else {
        remember(&context, &phone, None);
        back(&next, "bad_phone");
        return Ok(LogInAnswer::BadPhone);
    };
    match context.engine.log_in(&number, code.trim()).await {
        Ok(session) => {
            session_cookie(&context, session.token.secret());
            forget(&context);
            super::reply::see(local_path(&next).unwrap_or("/"));
            Ok(LogInAnswer::In)
        }
        Err(LogInError::WrongCode) => {
            remember(&context, number.as_str(), None);
            back(&next, "wrong_code");
            Ok(LogInAnswer::WrongCode)
        }
        Err(LogInError::Engine(error)) => {
            back(&next, "trouble");
            Err(super::reply::failed(&error))
        }
    }
}

/// Ends the session.
#[server(name = LogOut, prefix = "/api/fn", endpoint = "log_out")]
pub async fn log_out() -> Result<(), Refusal> {
    let context = super::reply::context()?;
    super::reply::see("/");
    if let Some(token) = &context.session_token {
        let ended = context.engine.log_out(token).await;
        ended.map_err(|error| super::reply::failed(&error))?;
    }
    tools::end_session_cookie(&context);
    Ok(())
}

/// An address within this site, or nothing: a login must not send people elsewhere.
#[cfg(feature = "ssr")]
pub(crate) fn local_path(next: &str) -> Option<&str> {
    let inside = next.starts_with('/') && !next.starts_with("//");
    // Browsers read a backslash as a slash and drop tabs and line breaks.
    let plain = next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (inside && plain).then_some(next)
}

#[cfg(feature = "ssr")]
pub(crate) use tools::remembered;

#[cfg(feature = "ssr")]
mod tools {
    //! Cookies. What was typed at the login travels in one, not in the address: addresses end up in logs.

    use super::super::reply;
    use crate::{PageContext, format::query_escaped};

    /// How long a login page remembers what was typed.
    const REMEMBERED_SECONDS: u32 = 300;
    /// More than a phone number has, and little enough to be carried about.
    const LONGEST: usize = 40;

    pub(super) fn back(next: &str, told: &str) {
        let next = super::local_path(next).unwrap_or("/");
        reply::see(&format!("/login?told={told}&next={}", query_escaped(next)));
    }

    pub(super) fn remember(context: &PageContext, phone: &str, code: Option<&str>) {
        let phone: String = phone.chars().take(LONGEST).collect();
        let value = format!("{}.{}", query_escaped(phone.trim()), code.unwrap_or_default());
        login_cookie(context, &value, REMEMBERED_SECONDS);
    }

    pub(super) fn forget(context: &PageContext) {
        login_cookie(context, "", 0);
    }

    fn login_cookie(context: &PageContext, value: &str, seconds: u32) {
        let secure = if context.secure_cookies { "; Secure" } else { "" };
        reply::set_cookie(&format!(
            "login={value}; Path=/login; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
        ));
    }

    /// The phone number, and in demo mode the code, that this browser's last attempt left.
    pub(crate) fn remembered() -> (String, String) {
        let value = crate::context::cookie("login");
        let value = value.as_deref().and_then(|value| value.rsplit_once('.'));
        let (phone, code) = value.unwrap_or_default();
        (crate::format::query_unescaped(phone), code.to_owned())
    }

    /// The prefix makes browsers refuse a cookie that another host or an unencrypted page has set.
    fn session_cookie_name(context: &PageContext) -> (&'static str, &'static str) {
        if context.secure_cookies {
            ("__Host-sid", "; Secure")
        } else {
            ("sid", "")
        }
    }

    pub(super) fn session_cookie(context: &PageContext, token: &str) {
        let (name, secure) = session_cookie_name(context);
        reply::set_cookie(&format!("{name}={token}; Path=/; HttpOnly; SameSite=Lax{secure}"));
    }

    pub(super) fn end_session_cookie(context: &PageContext) {
        let (name, secure) = session_cookie_name(context);
        reply::set_cookie(&format!(
            "{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax{secure}"
        ));
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn a_login_leads_to_our_own_pages_only() {
        for inside in ["/", "/vouchers/10", "/orders?x=1"] {
            assert_eq!(local_path(inside), Some(inside));
        }
        for outside in [
            "",
            "orders",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/\t/evil.example",
            "/ evil",
            "javascript:alert(1)",
        ] {
            assert_eq!(local_path(outside), None, "{outside}");
        }
    }
}
