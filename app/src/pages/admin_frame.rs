//! What the operators' pages share: who may see them, the way between them, what became of the last form.

use leptos::{nonce::use_nonce, prelude::*};

use super::{frame::Frame, missing};
use crate::{PageContext, context};

/// Times in the reader's zone, previews, and the live board. Small, by hand and only here: shoppers load none of it.
const SCRIPT: &str = include_str!("admin_script.js");

/// Lets operators pass. Others get a page that says what to do.
pub(super) async fn operator(context: &PageContext, here: &str) -> Result<(), AnyView> {
    let Some(user) = context.user else {
        return Err(missing::to_login(here));
    };
    match context.engine.is_admin(user).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(missing::forbidden()),
        Err(error) => Err(missing::broken(&error)),
    }
}

/// What is wrong with a field, from the address that the function sent the form back to.
pub(super) fn wrong(field: &str) -> Option<&'static str> {
    let listed = context::query("wrong");
    let code = listed.split(',').find_map(|pair| {
        let (name, code) = pair.split_once(':')?;
        (name == field).then_some(code)
    })?;
    Some(context::lang().admin().wrong(field, code))
}

/// What became of the last form.
#[component]
pub(super) fn News() -> impl IntoView {
    let texts = context::lang().admin();
    let told = context::query("told");
    let good = matches!(
        told.as_str(),
        "published" | "drafted" | "done" | "saved" | "unchanged" | "replayed" | "released" | "dropped"
    );
    texts.told(&told).map(|news| {
        view! { <p class=if good { "news" } else { "news bad" } role="status">{news}</p> }
    })
}

/// A page of the console.
#[component]
pub(super) fn Console(
    /// The page's own title.
    title: String,
    /// The page's address, where it is one of the console's own.
    #[prop(optional)]
    here: &'static str,
    children: Children,
) -> impl IntoView {
    let texts = context::lang().admin();
    let links: Vec<_> = [
        ("/admin", texts.sales),
        ("/admin/vouchers/new", texts.new),
        ("/admin/orders", texts.finder.title),
        ("/admin/dead", texts.dead.title),
    ]
    .into_iter()
    .map(|(path, label)| {
        view! { <li><a href=path aria-current=(path == here).then_some("page")>{label}</a></li> }
    })
    .collect();
    view! {
        <Frame title operator=true>
            <nav class="console" aria-label=texts.console><ul>{links}</ul></nav>
            {children()}
        </Frame>
        <script type="module" nonce=use_nonce()>{SCRIPT}</script>
    }
}
