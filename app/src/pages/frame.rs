//! What every page has around it.

use leptos::{prelude::*, server_fn::ServerFn};
use leptos_meta::Title;

use crate::{
    PageContext, context,
    functions::{LogOut, Speak},
};

/// Header, content, footer.
#[component]
pub(crate) fn Frame(
    /// The page's own title.
    title: String,
    /// Whether the reader is known to steer sales. Most pages don't ask.
    #[prop(optional)]
    operator: bool,
    children: Children,
) -> impl IntoView {
    let lang = context::lang();
    let (texts, other) = (lang.pages(), lang.other());
    let known = use_context::<PageContext>().is_some_and(|context| context.user.is_some());
    let session = if known {
        view! {
            <form method="post" action=LogOut::PATH>
                <button type="submit" class="quiet">{texts.log_out}</button>
            </form>
        }
        .into_any()
    } else {
        view! { <a href="/login">{texts.log_in}</a> }.into_any()
    };
    view! {
        <Title text=title + " · " + texts.name/>
        <a class="skip" href="#content">{texts.skip}</a>
        <header class="site">
            <a class="brand" href="/">{texts.name}</a>
            <nav>
                <a href="/">{texts.sales}</a>
                {known.then(|| view! { <a href="/orders">{texts.orders}</a> })}
                {operator.then(|| view! { <a href="/admin">{texts.admin}</a> })}
                {session}
                <form method="post" action=Speak::PATH>
                    <input type="hidden" name="lang" value=other.word()/>
                    <input type="hidden" name="next" value=context::here()/>
                    <button type="submit" class="quiet" lang=other.tag()>{other.own_name()}</button>
                </form>
            </nav>
        </header>
        <main id="content">{children()}</main>
        <footer class="site"><p>{texts.footer}</p></footer>
    }
}
