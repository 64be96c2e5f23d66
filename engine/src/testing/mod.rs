//! Private stores and a whole shop for tests: a Redis process and a database of its own each, so that a test may empty,
//! break or kill them. Compiled with the feature `testing` alone.

mod database;
mod redis_server;
mod shop;

pub use database::TestDatabase;
pub use redis_server::TestRedis;
pub use shop::{TestClock, TestShop};
