//! The engine against real stores. Tests carry the ids of the invariants (I…), faults (K…) and reports (R…) they prove.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests fail as tests do"
)]

mod accounts;
mod console;
mod consumer;
mod drafts;
mod grab;
mod guardian;
mod ids;
mod migrations;
mod rate;
mod sales;
mod support;
