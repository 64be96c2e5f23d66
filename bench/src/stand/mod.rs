//! What a measurement stands on: stores of its own, people with sessions, sales, and the server as a child process.

mod child;
pub(crate) mod proc;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use domain::{SaleDraft, VoucherId};
use engine::{
    Clock, Engine, EngineSettings, SystemClock,
    testing::{TestDatabase, TestRedis},
};
use prometheus_client::registry::Registry;
use redis::aio::MultiplexedConnection;

pub(crate) use child::{Served, free_address};

use crate::load::{Person, Target};

/// The stream of the one partition.
pub(crate) const STREAM: &str = "stream.orders:{p0}";
const HOUR: Duration = Duration::from_hours(1);

/// When Redis makes its append-only file durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fsync {
    /// Never by itself.
    No,
    /// Every second.
    EverySec,
    /// Before each answer.
    Always,
}

impl Fsync {
    /// Redis' word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::EverySec => "everysec",
            Self::Always => "always",
        }
    }
}

/// Starts a Redis as it is in production, but for the fsync.
pub(crate) async fn redis(fsync: Fsync) -> TestRedis {
    let settings = [
        "--appendonly",
        "yes",
        "--appendfsync",
        fsync.word(),
        "--maxmemory-policy",
        "noeviction",
    ];
    TestRedis::start_with(&settings).await
}

/// Stores and an engine beside the server, which makes people and sales.
pub(crate) struct Stand {
    /// Its Redis.
    pub(crate) redis: TestRedis,
    /// Its database.
    pub(crate) database: TestDatabase,
    /// The engine; it settles nothing.
    pub(crate) engine: Engine,
    /// Where things are written.
    pub(crate) out: PathBuf,
    con: MultiplexedConnection,
    server: PathBuf,
    site: PathBuf,
}

impl Stand {
    /// Starts the stores and brings the schema up.
    pub(crate) async fn open(server: &Path, site: &Path, out: &Path) -> Result<Self> {
        std::fs::create_dir_all(out)?;
        let redis = redis(Fsync::Always).await;
        let database = TestDatabase::create().await;
        let settings = patient(EngineSettings::new(redis.url(), database.url(), "bench"));
        Engine::migrate(&settings).await?;
        let engine = Engine::start(settings, Arc::new(SystemClock), &mut Registry::default()).await?;
        engine.renew().await?;
        let con = redis.connect().await;
        Ok(Self {
            redis,
            database,
            engine,
            out: out.to_owned(),
            con,
            server: server.to_owned(),
            site: built_site(site, out)?,
        })
    }

    /// Starts the server in `role` on these stores.
    pub(crate) async fn serve(&self, role: &str, more: &[&str]) -> Result<Served> {
        let address = free_address()?;
        let site = self.site.to_string_lossy().into_owned();
        let listen = address.to_string();
        let mut args = vec![
            "serve",
            "--demo",
            "--unsafe-redis",
            "--role",
            role,
            "--site",
            &site,
            "--listen",
            &listen,
        ];
        args.extend(more);
        let (redis_url, database_url) = (self.redis.url(), self.database.url());
        let env = [
            ("SECKILL_REDIS_URL", redis_url.as_str()),
            ("SECKILL_DATABASE_URL", database_url.as_str()),
            ("SECKILL_LOG", "warn"),
            // The generator's few people press faster, and listen more often, than people do.
            ("SECKILL_GRAB_RATE", "0"),
            ("SECKILL_SESSION_STREAMS", "20000"),
        ];
        let log = self.out.join(format!("server-{role}.log"));
        Served::start(&self.server, &args, &env, address, "/healthz", &log).await
    }

    /// `n` people, each with a session.
    pub(crate) async fn people(&self, n: u32) -> Result<Arc<[Person]>> {
        let minted = self.engine.mint_sessions(n).await?;
        let people = minted.into_iter().map(|(user, token)| Person {
            user: user.get(),
            token: token.secret().into(),
        });
        Ok(people.collect())
    }

    /// A sale that is open now.
    pub(crate) async fn sale(&self, stock: u64) -> Result<VoucherId> {
        self.sale_from(stock, Duration::ZERO).await
    }

    /// A sale that opens in a while.
    pub(crate) async fn sale_from(&self, stock: u64, later: Duration) -> Result<VoucherId> {
        let now = SystemClock.now();
        let draft = SaleDraft {
            title: "A measured voucher".into(),
            sub_title: String::new(),
            rules: String::new(),
            pay_value: 4750,
            actual_value: 5000,
            stock: i64::try_from(stock)?,
            begins_at: now - Duration::from_secs(1) + later,
            ends_at: now + HOUR + later,
        };
        let voucher = self.engine.publish(None, 1, draft).await?;
        Ok(voucher.id)
    }

    /// Sets when Redis makes its file durable.
    pub(crate) async fn set_fsync(&self, fsync: Fsync) -> Result<()> {
        let mut set = redis::cmd("CONFIG");
        set.arg("SET").arg("appendfsync").arg(fsync.word());
        Ok(set.exec_async(&mut self.con.clone()).await?)
    }

    /// Entries that wait to be settled.
    pub(crate) async fn backlog(&self) -> Result<u64> {
        Ok(redis::cmd("XLEN")
            .arg(STREAM)
            .query_async(&mut self.con.clone())
            .await?)
    }

    /// Live orders of a sale, and units that the ledger has left.
    pub(crate) async fn ledger(&self, voucher: VoucherId) -> Result<(u64, u64)> {
        let (orders, left): (i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM voucher_order WHERE voucher_id = $1 AND state = 'confirmed'), stock::bigint
             FROM seckill_voucher WHERE voucher_id = $1",
        )
        .bind(voucher.get())
        .fetch_one(self.database.pool())
        .await?;
        Ok((u64::try_from(orders)?, u64::try_from(left)?))
    }

    /// Where a file of ours goes.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.out.join(name)
    }

    /// The process id of Redis.
    pub(crate) fn redis_pid(&self) -> Result<u32> {
        self.redis.pid().context("Redis has ended")
    }

    /// Drops the database; the processes end by themselves.
    pub(crate) async fn close(self) {
        self.engine.close().await;
        self.database.drop_now().await;
    }
}

/// Preparing may wait for a busy disk; only the server that is measured keeps its own limits.
pub(crate) fn patient(settings: EngineSettings) -> EngineSettings {
    EngineSettings {
        response_timeout: Duration::from_secs(30),
        settle_timeout: Duration::from_secs(30),
        ..settings
    }
}

/// The built site; where there is none, one that names no real file: grabs need no pages.
fn built_site(site: &Path, out: &Path) -> Result<PathBuf> {
    if site.join("assets.json").is_file() {
        return Ok(site.to_owned());
    }
    let stub = out.join("site");
    std::fs::create_dir_all(stub.join("pkg"))?;
    let assets = r#"{"js": "/pkg/none.js", "wasm": "/pkg/none.wasm", "css": "/pkg/none.css"}"#;
    std::fs::write(stub.join("assets.json"), assets)?;
    Ok(stub)
}

/// The server function behind the page's form, as the island calls it.
pub(crate) fn function_target(address: SocketAddr, voucher: VoucherId) -> Result<Arc<Target>> {
    let text = format!(
        "url = 'http://{address}/api/fn/grab'\nbody = 'voucher_id={voucher}'\n{}",
        include_str!("../../targets/function.rules.toml")
    );
    Ok(Arc::new(Target::parse(
        &text,
        &std::collections::BTreeMap::new(),
    )?))
}

/// Our own grab route as a target.
pub(crate) fn our_target(address: SocketAddr, voucher: VoucherId) -> Result<Arc<Target>> {
    let text = format!(
        "url = 'http://{address}/api/v1/vouchers/{voucher}/grab'\n{}",
        include_str!("../../targets/ours.rules.toml")
    );
    Ok(Arc::new(Target::parse(
        &text,
        &std::collections::BTreeMap::new(),
    )?))
}
