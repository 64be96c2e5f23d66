//! What the page says about itself at its lower edge: the document holds the words, hidden until they are true.

use leptos::prelude::document;

/// Shows or hides one of them: `.offline`, while the numbers may be old; `.stale`, when a reload brings a newer page. What
/// is there goes on working as well as it can.
pub(crate) fn show(notice: &str, shown: bool) {
    if let Ok(Some(notice)) = document().query_selector(notice) {
        let _ = notice.toggle_attribute_with_force("hidden", !shown);
    }
}
