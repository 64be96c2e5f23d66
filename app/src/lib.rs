//! The pages of the shop: rendered on the server, with a few islands that wake up in the browser.
//!
//! Everything can be bought without and before the browser's half: each form is a real one. Pages, routes and meta
//! tags exist on the server only, so that a shopper loads the islands and nothing else.

mod browser;
pub mod functions;
pub mod islands;
mod model;
pub mod texts;

#[cfg(feature = "ssr")]
pub mod calendar;
#[cfg(feature = "ssr")]
mod context;
#[cfg(feature = "ssr")]
#[expect(unreachable_pub, reason = "the macro makes its helpers public")]
mod document;
#[cfg(feature = "ssr")]
mod format;
#[cfg(feature = "ssr")]
#[expect(unreachable_pub, reason = "the macro makes its helpers public")]
mod pages;

#[cfg(feature = "ssr")]
pub use context::{Assets, PageContext, lang_of};
#[cfg(feature = "ssr")]
pub use document::{App, shell};
#[cfg(feature = "ssr")]
pub use functions::register;
#[cfg(feature = "ssr")]
pub use texts::Lang;
