//! The real binary on stores of its own, over HTTP.

mod admin;
mod gate;
mod lifecycle;
mod pages;
mod sessions;
mod shop;
mod strangers;
