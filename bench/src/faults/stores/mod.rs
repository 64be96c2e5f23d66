//! Stores of the harness' own: a Redis process a scenario and one PostgreSQL cluster a run, to be broken at will.

mod postgres;
mod redis_process;

pub(crate) use postgres::{Cluster, Database};
pub(crate) use redis_process::{PrivateRedis, connect};
