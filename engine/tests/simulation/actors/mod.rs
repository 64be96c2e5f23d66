//! Everybody who acts on the stores, each with steps as fine as the calls that it makes.

pub(crate) mod operators;
pub(crate) mod rebuild;
pub(crate) mod sweeper;
pub(crate) mod web;
pub(crate) mod worker;
