//! Settings: flags or `SECKILL_*` variables, checked together at start.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};
use domain::Phone;
use engine::EngineSettings;

use crate::gate::GateArgs;

/// Where `make run` leaves the addresses of its private stores.
const STORES_FILE: &str = ".data/stores.env";

/// A flash-sale system: Redis decides, PostgreSQL keeps, the browser watches.
#[derive(Debug, Parser)]
#[command(name = "server", version, about, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Where everything is.
    #[command(flatten)]
    pub(crate) stores: Stores,
}

/// What the binary does.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serves the shop, settles orders, or both.
    Serve(Box<Serve>),
    /// Brings the ledger's schema up to date.
    Migrate,
    /// Checks both stores, the settings and the machine as `serve` would use them, and says what to do.
    Doctor(Box<Serve>),
    /// Accounts that may steer sales.
    Admin {
        /// What to do.
        #[command(subcommand)]
        command: AdminCommand,
    },
    /// Demo mode only: prints `user_id token` lines for load tools.
    MintSessions {
        /// How many.
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        count: u32,
    },
}

/// What to do with admins.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Makes the account of this phone an admin.
    Grant {
        /// Eleven digits.
        phone: Phone,
    },
}

/// Where the stores are.
#[derive(Debug, Args)]
pub(crate) struct Stores {
    /// Redis: `redis://host:port/db` or `redis+unix:///path`. Else what `make run` started.
    #[arg(long, env = "SECKILL_REDIS_URL", hide_env_values = true, global = true)]
    redis_url: Option<String>,
    /// PostgreSQL: `postgresql://user:password@host/database`. Else what `make run` started.
    #[arg(long, env = "SECKILL_DATABASE_URL", hide_env_values = true, global = true)]
    database_url: Option<String>,
    /// Parts of Redis' key space, each with a stream of its own. The same for all processes, for ever.
    #[arg(long, env = "SECKILL_PARTITIONS", default_value_t = 1, global = true)]
    partitions: u16,
}

/// Which half of the system a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// Web and worker together.
    All,
    /// Serves pages and calls.
    Web,
    /// Settles orders.
    Worker,
}

/// How to serve.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub(crate) struct Serve {
    /// Which half of the system this process is.
    #[arg(long, env = "SECKILL_ROLE", value_enum, default_value_t = Role::All)]
    pub(crate) role: Role,
    /// Address to listen on.
    #[arg(long, env = "SECKILL_LISTEN", default_value = "127.0.0.1:3000")]
    pub(crate) listen: SocketAddr,
    /// The built site.
    #[arg(long, env = "SECKILL_SITE", default_value = "target/site")]
    pub(crate) site: PathBuf,
    /// Demo mode: login codes are shown on the page, demo sales and an admin are made. Never in production.
    #[arg(long, env = "SECKILL_DEMO")]
    pub(crate) demo: bool,
    /// The shop is reached over TLS (by a proxy): cookies become `__Host-…; Secure`, and HSTS is sent.
    #[arg(long, env = "SECKILL_TLS")]
    pub(crate) tls: bool,
    /// Start although Redis' settings may lose accepted orders.
    #[arg(long, env = "SECKILL_UNSAFE_REDIS")]
    pub(crate) unsafe_redis: bool,
    /// This consumer's name in the group; unique among all processes. Else made from host, process and chance.
    #[arg(long, env = "SECKILL_CONSUMER")]
    pub(crate) consumer: Option<String>,
    /// Entries settled in one transaction, at most.
    #[arg(long, env = "SECKILL_SETTLE_BATCH", default_value_t = 512)]
    settle_batch: usize,
    /// Milliseconds for which settling waits, at most, while a crowd presses on this same process; 0: never.
    #[arg(long, env = "SECKILL_SETTLE_PATIENCE_MS", default_value_t = 2000)]
    settle_patience_ms: u64,
    /// Milliseconds that a read of the stream waits for the first entry.
    #[arg(long, env = "SECKILL_BLOCK_MS", default_value_t = 1000)]
    block_ms: u64,
    /// Milliseconds after which a call to Redis counts as unanswered.
    #[arg(long, env = "SECKILL_REDIS_TIMEOUT_MS", default_value_t = 2000)]
    redis_timeout_ms: u64,
    /// Milliseconds of the longest honest settle: PostgreSQL cancels a statement that takes longer.
    #[arg(long, env = "SECKILL_SETTLE_TIMEOUT_MS", default_value_t = 5000)]
    settle_timeout_ms: u64,
    /// Milliseconds after which an entry that a consumer has not settled is taken over by another.
    #[arg(long, env = "SECKILL_CLAIM_IDLE_MS", default_value_t = 15_000)]
    claim_idle_ms: u64,
    /// Connections to PostgreSQL for pages and admin calls.
    #[arg(long, env = "SECKILL_PAGE_CONNECTIONS", default_value_t = 8)]
    page_connections: u32,
    /// Connections to PostgreSQL for the consumer.
    #[arg(long, env = "SECKILL_WORKER_CONNECTIONS", default_value_t = 4)]
    worker_connections: u32,
    /// Log lines as JSON.
    #[arg(long, env = "SECKILL_LOG_JSON")]
    pub(crate) log_json: bool,
    /// Limits.
    #[command(flatten)]
    pub(crate) gate: GateArgs,
}

impl Stores {
    /// The engine's settings for short commands.
    pub(crate) fn settings(&self, consumer: &str) -> anyhow::Result<EngineSettings> {
        let redis = self
            .redis_url
            .clone()
            .map_or_else(|| private("SECKILL_REDIS_URL"), Ok)?;
        let database = self
            .database_url
            .clone()
            .map_or_else(|| private("SECKILL_DATABASE_URL"), Ok)?;
        Ok(EngineSettings {
            partitions: self.partitions,
            ..EngineSettings::new(redis, database, consumer)
        })
    }
}

impl Serve {
    /// The engine's settings, checked.
    pub(crate) fn settings(&self, stores: &Stores) -> anyhow::Result<EngineSettings> {
        let consumer = self.consumer.clone().map_or_else(unique_name, Ok)?;
        let settings = EngineSettings {
            batch: self.settle_batch,
            settle_patience: Duration::from_millis(self.settle_patience_ms),
            block: Duration::from_millis(self.block_ms),
            response_timeout: Duration::from_millis(self.redis_timeout_ms),
            settle_timeout: Duration::from_millis(self.settle_timeout_ms),
            claim_idle: Duration::from_millis(self.claim_idle_ms),
            claim_every: Duration::from_millis((self.claim_idle_ms / 3).max(100)),
            page_connections: self.page_connections,
            worker_connections: self.worker_connections,
            rates: self.gate.rates(),
            ..stores.settings(&consumer)?
        };
        #[cfg(feature = "failpoints")]
        let settings = with_fail_points(settings)?;
        settings.check()?;
        Ok(settings)
    }
}

/// What the fault harness asks for.
#[cfg(feature = "failpoints")]
#[expect(
    clippy::disallowed_methods,
    reason = "not a setting that people may see in --help"
)]
fn with_fail_points(settings: EngineSettings) -> anyhow::Result<EngineSettings> {
    let (plan, sabotage) = (std::env::var("FAILPOINT").ok(), std::env::var("SABOTAGE").ok());
    let fail_points =
        engine::FailPoints::parse(plan.as_deref(), sabotage.as_deref()).map_err(anyhow::Error::msg)?;
    Ok(EngineSettings {
        fail_points,
        ..settings
    })
}

/// A store's address from the file beside `make run`.
fn private(name: &str) -> anyhow::Result<String> {
    let missing = || format!("set {name}, or run from the project's root beside `make run`");
    let text = std::fs::read_to_string(STORES_FILE).with_context(missing)?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.map(str::to_owned).with_context(missing)
}

/// Two processes with one configuration must not share a name (R23).
fn unique_name() -> anyhow::Result<String> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let chance = engine::chance().context("no randomness")?;
    Ok(format!("{}-{}-{chance:08x}", host.trim(), std::process::id()))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn r23_default_consumer_names_differ() {
        assert_ne!(unique_name().unwrap(), unique_name().unwrap());
    }
}
