//! An HTTP/1.1 load generator that costs little: it shares the machine with what it measures.
//!
//! Requests are rendered from templates straight into each connection's buffer and sent over keep-alive TCP; one thread
//! drives all connections. Open loop measures from the moment at which a request was due, closed loop from its sending.

mod connection;
mod http;
mod pace;
mod run;
mod tally;
mod target;
mod template;

pub(crate) use connection::Connection;
pub(crate) use run::{Amount, Pace, Person, Plan, run};
pub(crate) use tally::{Outcome, Quantiles, histogram};
pub(crate) use target::{Target, Verdict};
