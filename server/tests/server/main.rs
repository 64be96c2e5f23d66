//! The real binary on stores of its own, over HTTP.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod admin;
mod console;
mod gate;
mod lifecycle;
mod pages;
mod sessions;
mod shop;
mod steered;
mod strangers;
