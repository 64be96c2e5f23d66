//! The WASM entry point: wakes the islands of the page that the server rendered.

use app as _;

/// Called once by the page's bootstrap script.
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    leptos::mount::hydrate_islands();
}
