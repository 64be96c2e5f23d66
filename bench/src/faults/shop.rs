//! A whole shop for one scenario: stores of its own, server processes, one sale, and the people who want it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use serde_json::json;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    crowd::{Crowd, log_in},
    http::{Call, Client, Reply},
    instance::{Server, Spec},
    load::{Load, Running},
    proxy::Proxy,
    stage::Stage,
    stores::{Database, PrivateRedis},
    wait,
    watch::Watch,
};

/// The demo shop's operator.
const OPERATOR: &str = "13800000000";
/// How long the operator waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a scenario needs.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    /// Units for sale.
    pub(crate) stock: i64,
    /// People who want one.
    pub(crate) people: u32,
    /// Redis' `appendfsync`.
    pub(crate) fsync: &'static str,
    /// Servers reach the stores through proxies.
    pub(crate) proxied: bool,
    /// The sale opens so many milliseconds after it was made.
    pub(crate) opens_in: i64,
    /// And lasts so long.
    pub(crate) lasts: i64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            stock: 150,
            people: 240,
            fsync: "always",
            proxied: false,
            opens_in: -1000,
            lasts: 3_600_000,
        }
    }
}

/// The sale, with times on the clock of the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sale {
    /// The voucher.
    pub(crate) id: i64,
    /// Units published, with accepted changes.
    pub(crate) units: i64,
    /// When it opens, in milliseconds of the history; may be below zero.
    pub(crate) opens: i64,
    /// When it closes.
    pub(crate) closes: i64,
}

/// A shop.
pub(crate) struct Shop {
    /// Its Redis.
    pub(crate) redis: PrivateRedis,
    /// Its ledger.
    pub(crate) database: Database,
    /// Between servers and Redis, if asked for.
    pub(crate) redis_proxy: Option<Proxy>,
    /// Between servers and ledger, if asked for.
    pub(crate) ledger_proxy: Option<Proxy>,
    /// The processes under test, in the order in which they were added.
    pub(crate) servers: Vec<Server>,
    /// The people.
    pub(crate) crowd: Arc<Crowd>,
    /// The sale.
    pub(crate) sale: Sale,
    /// Looks at both stores all the time.
    pub(crate) watch: Watch,
    /// What was done, for the report.
    pub(crate) did: Vec<String>,
    /// What else must hold, apart from the invariants.
    pub(crate) also: Vec<(String, bool)>,
    /// Scenario and folder for logs.
    pub(crate) log: PathBuf,
    operator: String,
    steward: Server,
    binary: PathBuf,
    site: PathBuf,
    seed: u64,
    loads: u64,
}

impl Shop {
    /// Starts the stores and a server that no scenario harms, makes accounts and the sale.
    pub(crate) async fn open(stage: &Stage, setup: Setup) -> anyhow::Result<Self> {
        let name = stage.name();
        let redis = PrivateRedis::start(stage.folder.join(format!("redis-{name}")), setup.fsync).await?;
        let database = stage.cluster.database(&format!("s_{name}")).await?;
        let (mut redis_proxy, mut ledger_proxy) = (None, None);
        if setup.proxied {
            redis_proxy = Some(Proxy::open(redis.socket()).await?);
            ledger_proxy = Some(Proxy::open(database.socket()).await?);
        }
        let log = stage.out.join("logs").join(&name);
        let _ = std::fs::remove_dir_all(&log);
        std::fs::create_dir_all(&log)?;
        let site = stage.folder.join("site");
        let around = surroundings(
            &redis_url(&redis, redis_proxy.as_ref()),
            &ledger_url(&database, ledger_proxy.as_ref()),
            &site,
        );
        let mut steward = Server::new(Spec::web(), stage.binary.clone(), around, log.join("steward.log"))?;
        steward.launch()?;
        steward.ready().await?;

        let count = setup.people.to_string();
        let minted = stage.server(
            &["mint-sessions", "--count", &count],
            &redis.url(),
            &database.url(),
        )?;
        let mut client = Client::new(steward.port());
        let operator = log_in(&mut client, OPERATOR)
            .await
            .ok()
            .flatten()
            .context("the operator can't log in")?;

        // The clock of the sale is Redis' own.
        let (seconds, micros): (i64, i64) = redis.run(&["TIME"]).await?;
        let now = seconds * 1000 + micros / 1000;
        let (opens, closes) = (now + setup.opens_in, now + setup.opens_in + setup.lasts);
        let draft = json!({
            "title": "A voucher under fire", "pay_value": 4750, "actual_value": 5000, "stock": setup.stock,
            "begins_at": text(opens)?, "ends_at": text(closes)?,
        });
        let call = Call::post("/api/v1/admin/vouchers").by(&operator).with(draft);
        let made = client.call(&call, PATIENCE).await;
        let made = made.map_err(|why| anyhow::anyhow!("the sale can't be made: {}", why.word()))?;
        let id = made.body["voucher"]["id"].as_str().and_then(|id| id.parse().ok());
        let id: i64 = id.with_context(|| format!("the sale was not made: {} {}", made.status, made.body))?;
        let crowd = Arc::new(Crowd::minted(&minted, id)?);
        let shift = i64::try_from(crowd.history.now())? - elapsed(&redis, now).await?;
        Ok(Self {
            watch: Watch::start(redis.url(), database.clone(), id),
            redis,
            database,
            redis_proxy,
            ledger_proxy,
            servers: Vec::new(),
            crowd,
            sale: Sale {
                id,
                units: setup.stock,
                opens: setup.opens_in + shift,
                closes: setup.opens_in + setup.lasts + shift,
            },
            did: Vec::new(),
            also: Vec::new(),
            log,
            operator,
            steward,
            binary: stage.binary.clone(),
            site,
            seed: stage.seed_for(0),
            loads: 0,
        })
    }

    /// Starts a server and waits until it answers. Returns its place.
    pub(crate) async fn add(&mut self, spec: Spec) -> anyhow::Result<usize> {
        let redis = redis_url(&self.redis, self.redis_proxy.as_ref());
        let ledger = ledger_url(&self.database, self.ledger_proxy.as_ref());
        let around = surroundings(&redis, &ledger, &self.site);
        let log = self.log.join(format!("{}-{}.log", self.servers.len(), spec.role));
        let mut server = Server::new(spec, self.binary.clone(), around, log)?;
        server.launch()?;
        server.ready().await?;
        self.servers.push(server);
        Ok(self.servers.len() - 1)
    }

    /// Starts this server again, without its fail-point, and waits until it answers.
    pub(crate) async fn again(&mut self, place: usize) -> anyhow::Result<()> {
        self.servers[place].mend();
        self.servers[place].launch()?;
        self.servers[place].ready().await
    }

    /// Starts every server that does not run, and waits until all answer.
    pub(crate) async fn revive(&mut self) -> anyhow::Result<()> {
        for server in self.servers.iter_mut().chain([&mut self.steward]) {
            if !server.runs() {
                server.mend();
                server.launch()?;
            }
        }
        for server in self.servers.iter_mut().chain([&mut self.steward]) {
            server.ready().await?;
        }
        Ok(())
    }

    /// The ports of the web servers under test; of the unharmed one if there are none.
    pub(crate) fn ports(&self) -> Vec<u16> {
        let webs = self.servers.iter().filter(|server| server.is_web());
        let ports: Vec<u16> = webs.map(Server::port).collect();
        if ports.is_empty() {
            vec![self.steward.port()]
        } else {
            ports
        }
    }

    /// The port of the server that no scenario harms.
    pub(crate) const fn steward_port(&self) -> u16 {
        self.steward.port()
    }

    /// Kilobytes that the unharmed server holds.
    pub(crate) fn steward_memory(&self) -> anyhow::Result<u64> {
        self.steward.memory()
    }

    /// Makes sure that the unharmed server runs.
    pub(crate) async fn keep_steward(&mut self) -> anyhow::Result<()> {
        if !self.steward.runs() {
            self.steward.launch()?;
        }
        self.steward.ready().await
    }

    /// The watch goes on with the Redis that the shop has now.
    pub(crate) fn watch_again(&self) {
        self.watch.look_at(self.redis.url());
    }

    /// Lets people come.
    pub(crate) fn load(&mut self, load: Load) -> Running {
        self.loads += 1;
        load.start(&self.crowd, &self.ports(), self.seed.wrapping_add(self.loads))
    }

    /// Notes what was done.
    pub(crate) fn did(&mut self, what: impl Into<String>) {
        self.did.push(what.into());
    }

    /// Notes a claim that must hold apart from the invariants.
    pub(crate) fn also(&mut self, what: impl Into<String>, holds: bool) {
        self.also.push((what.into(), holds));
    }

    /// Waits until so many grabs were accepted.
    pub(crate) async fn accepted(&self, at_least: usize, within: Duration) -> anyhow::Result<()> {
        let what = format!("{at_least} grabs are accepted");
        wait::until(&what, within, async || {
            Ok(self.crowd.history.accepted() >= at_least)
        })
        .await?;
        Ok(())
    }

    /// The operator's session.
    pub(crate) fn operator(&self) -> &str {
        &self.operator
    }

    /// Makes an operator's call on the sale: `pause`, `stock`…
    pub(crate) async fn steer(
        &mut self,
        what: &str,
        body: Option<serde_json::Value>,
    ) -> anyhow::Result<Reply> {
        let mut client = Client::new(self.steward.port());
        let path = format!("/api/v1/admin/vouchers/{}/{what}", self.sale.id);
        let operator = self.operator.clone();
        let call = Call {
            body: body.clone(),
            ..Call::post(&path).by(&operator)
        };
        let mut reply = client.call(&call, PATIENCE).await;
        if reply.as_ref().is_ok_and(|reply| reply.status.as_u16() == 401) {
            // Redis forgot the session.
            if let Ok(Some(token)) = log_in(&mut client, OPERATOR).await {
                self.operator.clone_from(&token);
                let call = Call {
                    body,
                    ..Call::post(&path).by(&token)
                };
                reply = client.call(&call, PATIENCE).await;
            }
        }
        reply.map_err(|why| anyhow::anyhow!("{what}: {}", why.word()))
    }

    /// Changes the stock and counts that among the published units.
    pub(crate) async fn restock(&mut self, delta: i64) -> anyhow::Result<()> {
        let reply = self
            .steer("stock", Some(json!({"delta": delta, "reason": "a test"})))
            .await?;
        if !reply.status.is_success() {
            bail!("the stock was not changed: {} {}", reply.status, reply.body);
        }
        self.sale.units += delta;
        Ok(())
    }

    /// The keys of the sale.
    pub(crate) fn stock_key(&self) -> String {
        format!("seckill:stock:{}:{{p0}}", self.sale.id)
    }

    /// Claims.
    pub(crate) fn claims_key(&self) -> String {
        format!("seckill:order:{}:{{p0}}", self.sale.id)
    }
}

fn redis_url(redis: &PrivateRedis, proxy: Option<&Proxy>) -> String {
    proxy.map_or_else(
        || redis.url(),
        |proxy| format!("redis://127.0.0.1:{}/", proxy.port()),
    )
}

fn ledger_url(database: &Database, proxy: Option<&Proxy>) -> String {
    proxy.map_or_else(|| database.url(), |proxy| database.proxied_url(proxy.port()))
}

/// Settings with short times, so that recovery is seen within seconds.
fn surroundings(redis: &str, ledger: &str, site: &std::path::Path) -> Vec<(&'static str, String)> {
    vec![
        ("SECKILL_REDIS_URL", redis.to_owned()),
        ("SECKILL_DATABASE_URL", ledger.to_owned()),
        ("SECKILL_SITE", site.display().to_string()),
        ("SECKILL_DEMO", "true".to_owned()),
        ("SECKILL_BLOCK_MS", "200".to_owned()),
        ("SECKILL_REDIS_TIMEOUT_MS", "800".to_owned()),
        ("SECKILL_SETTLE_TIMEOUT_MS", "1000".to_owned()),
        ("SECKILL_CLAIM_IDLE_MS", "3000".to_owned()),
        ("SECKILL_PAGE_CONNECTIONS", "4".to_owned()),
        ("SECKILL_WORKER_CONNECTIONS", "2".to_owned()),
    ]
}

async fn elapsed(redis: &PrivateRedis, since: i64) -> anyhow::Result<i64> {
    let (seconds, micros): (i64, i64) = redis.run(&["TIME"]).await?;
    Ok(seconds * 1000 + micros / 1000 - since)
}

fn text(millis: i64) -> anyhow::Result<String> {
    let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000)?;
    Ok(at.format(&Rfc3339)?)
}
