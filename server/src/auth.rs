//! Who is asking. The token comes in the cookie, or for hmdp's clients in their header; it is never in a URL.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, HeaderValue, header, request::Parts},
};
use domain::UserId;
use engine::SessionToken;

use crate::{
    problem::Problem,
    state::{AppState, Site},
};

/// A shopper who is logged in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shopper(pub(crate) UserId);

/// Whoever is asking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visitor(pub(crate) Option<UserId>);

/// A shop operator; the role is asked of the ledger each time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admin(pub(crate) UserId);

/// The cookie's name.
pub(crate) const fn cookie_name(site: &Site) -> &'static str {
    if site.tls { "__Host-sid" } else { "sid" }
}

/// The session token that came with a request.
pub(crate) fn token<'a>(headers: &'a HeaderMap, site: &Site) -> Option<&'a str> {
    let name = cookie_name(site);
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
        .filter(|token| !token.is_empty())
}

/// hmdp's clients send the bare token in `authorization`.
pub(crate) fn hmdp_token(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

/// Sets the session cookie; without a token, clears it.
pub(crate) fn set_cookie(site: &Site, token: Option<&SessionToken>) -> Option<HeaderValue> {
    let name = cookie_name(site);
    let secure = if site.tls { "; Secure" } else { "" };
    let text = match token {
        Some(token) => format!(
            "{name}={}; HttpOnly; SameSite=Lax; Path=/{secure}",
            token.secret()
        ),
        None => format!("{name}=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0{secure}"),
    };
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl FromRequestParts<AppState> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        match token(&parts.headers, &state.site) {
            Some(token) => Ok(Self(state.engine.session(token).await?)),
            None => Ok(Self(None)),
        }
    }
}

impl FromRequestParts<AppState> for Shopper {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Visitor(user) = Visitor::from_request_parts(parts, state).await?;
        user.map(Self).ok_or_else(Problem::unauthorized)
    }
}

impl FromRequestParts<AppState> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let Shopper(user) = Shopper::from_request_parts(parts, state).await?;
        admin(state, user).await
    }
}

/// Checks the role.
pub(crate) async fn admin(state: &AppState, user: UserId) -> Result<Admin, Problem> {
    if state.engine.is_admin(user).await? {
        Ok(Admin(user))
    } else {
        Err(Problem::forbidden())
    }
}

/// The fixed facts, for tests and handlers alike.
pub(crate) type SharedSite = Arc<Site>;

#[cfg(test)]
mod tests {
    use super::*;

    fn site(tls: bool) -> Site {
        Site {
            demo: false,
            tls,
            assets: app::Assets::default(),
        }
    }

    #[test]
    fn the_token_is_found_among_other_cookies_and_only_under_its_own_name() {
        let mut headers = HeaderMap::new();
        headers.append(
            header::COOKIE,
            HeaderValue::from_static("a=b; xsid=no; sid=yes; __Host-sid=tls"),
        );
        assert_eq!(token(&headers, &site(false)), Some("yes"));
        assert_eq!(token(&headers, &site(true)), Some("tls"));
        headers.clear();
        headers.append(header::COOKIE, HeaderValue::from_static("sid="));
        assert_eq!(token(&headers, &site(false)), None);
    }

    #[test]
    fn the_cookie_is_out_of_scripts_reach() {
        let gone = set_cookie(&site(true), None).unwrap();
        assert_eq!(
            gone,
            "__Host-sid=; HttpOnly; SameSite=Lax; Path=/; Max-Age=0; Secure"
        );
    }
}
