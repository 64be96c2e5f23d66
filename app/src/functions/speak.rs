//! The choice of a language.

#![cfg_attr(
    feature = "ssr",
    expect(clippy::unused_async, reason = "server functions are async")
)]

use leptos::prelude::*;

use super::Refusal;

/// How long a choice is remembered: a year.
#[cfg(feature = "ssr")]
const REMEMBERED_SECONDS: u32 = 31_536_000;

/// Shows all pages in a language from now on, beginning with the one that was looked at.
#[server(name = Speak, prefix = "/api/fn", endpoint = "speak")]
pub async fn speak(
    /// `en` or `zh`.
    #[server(default)]
    lang: String,
    /// Where to go then.
    #[server(default)]
    next: String,
) -> Result<(), Refusal> {
    use super::{local_path, reply};
    use crate::texts::Lang;

    let context = reply::context()?;
    reply::see(local_path(&next).unwrap_or("/"));
    let lang = Lang::from_word(&lang).ok_or_else(|| reply::refuse(Refusal::Invalid))?;
    let secure = if context.secure_cookies { "; Secure" } else { "" };
    reply::set_cookie(&format!(
        "{}={}; Path=/; Max-Age={REMEMBERED_SECONDS}; HttpOnly; SameSite=Lax{secure}",
        Lang::COOKIE,
        lang.word(),
    ));
    Ok(())
}
