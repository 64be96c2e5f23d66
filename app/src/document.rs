//! The document around every page, and the addresses of the pages.

use leptos::{nonce::use_nonce, prelude::*};
use leptos_meta::{MetaTags, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{Route, Router, Routes},
    path,
};

use crate::{Assets, PageContext, context, pages};

/// The document. The server renders it for every page.
pub fn shell(assets: &Assets) -> impl IntoView + use<> {
    provide_context(assets.clone());
    let user = use_context::<PageContext>().and_then(|context| context.user);
    let who = user.map(|user| user.to_string());
    view! {
        <!DOCTYPE html>
        <html lang=context::lang().tag() data-who=who data-release=assets.wasm.clone()>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <link rel="stylesheet" href=assets.css.clone()/>
                <link rel="icon" href="data:,"/>
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

/// The pages by address. Each is rendered whole before its first byte leaves, so that its status is right.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Router>
            <Routes fallback=pages::Missing>
                <Route path=path!("/") view=pages::Sales ssr=SsrMode::Async/>
                <Route path=path!("/vouchers/:id") view=pages::Voucher ssr=SsrMode::Async/>
                <Route path=path!("/orders") view=pages::Orders ssr=SsrMode::Async/>
                <Route path=path!("/orders/:id") view=pages::OrderPage ssr=SsrMode::Async/>
                <Route path=path!("/login") view=pages::LogIn ssr=SsrMode::Async/>
                <Route path=path!("/admin") view=pages::AdminSales ssr=SsrMode::Async/>
                <Route path=path!("/admin/vouchers/new") view=pages::AdminNew ssr=SsrMode::Async/>
                <Route path=path!("/admin/vouchers/:id") view=pages::AdminSale ssr=SsrMode::Async/>
                <Route path=path!("/admin/vouchers/:id/report") view=pages::AdminReport ssr=SsrMode::Async/>
                <Route path=path!("/admin/orders") view=pages::AdminOrders ssr=SsrMode::Async/>
                <Route path=path!("/admin/dead") view=pages::AdminDead ssr=SsrMode::Async/>
            </Routes>
        </Router>
    }
}

/// Wakes the islands of the page at once, without waiting for an idle moment of the browser; shows times in the
/// reader's own zone; and takes the last attempt's word out of the address, so that a reload does not say it again. After
/// a new release the files of this one may be gone: forms still work, and the page says what to do.
const WAKE: &str = "(async () => {
  const root = document.documentElement;
  const zoned = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };
  for (const time of document.querySelectorAll('time[datetime]')) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString(root.lang, zoned);
  }
  if (location.search.includes('told=')) history.replaceState(null, '', location.pathname);
  const mod = await import(JS);
  await mod.default({ module_or_path: WASM });
  mod.hydrate();
  for (const island of document.querySelectorAll('leptos-island')) mod[island.dataset.component](island);
  await null;
  root.dataset.hydrated = '1';
  performance.mark('hydrated');
})().catch(() => { document.querySelector('.stale').hidden = false; });";

/// Loads the browser's half. Only pages with islands have it.
#[component]
pub(crate) fn Wake() -> impl IntoView {
    let assets = use_context::<Assets>();
    let texts = context::lang().pages();
    assets.map(|Assets { js, wasm, .. }| {
        let script = WAKE
            .replace("JS", &format!("{js:?}"))
            .replace("WASM", &format!("{wasm:?}"));
        view! {
            <div class="notices">
                <p class="offline" role="status" hidden=true>{texts.reconnecting}</p>
                <p class="stale" role="status" hidden=true>{texts.stale} " " <a href="">{texts.reload}</a></p>
            </div>
            <link rel="modulepreload" href=js/>
            <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin="anonymous"/>
            <script type="module" nonce=use_nonce()>{script}</script>
        }
    })
}
