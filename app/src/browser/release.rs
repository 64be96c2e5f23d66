//! Whether the server has become one of another release than this page's.

use std::cell::Cell;

use leptos::{prelude::document, task::spawn_local};

use super::{http, notices, timer};

/// A small page that everybody may see and that needs no store: every page names its release.
const PAGE: &str = "/login";
/// A restart is heard by everybody at once: the questions are spread.
const SPREAD_MS: u32 = 2000;

thread_local! {
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Looks after a lost stream is back; the server may have been exchanged meanwhile.
pub(super) fn look_soon() {
    if ASKED.replace(true) {
        return;
    }
    timer::after(timer::jittered(SPREAD_MS), || {
        spawn_local(async {
            if let (Some(ours), Ok(page)) = (mark("data-release"), http::page(PAGE).await)
                && page.contains("data-release=")
                && !page.contains(&ours)
            {
                notices::show(".stale", true);
            }
            ASKED.set(false);
        });
    });
}

/// What the document says about itself.
pub(super) fn mark(name: &str) -> Option<String> {
    document().document_element()?.get_attribute(name)
}
