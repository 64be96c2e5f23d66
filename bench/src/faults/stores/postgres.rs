//! A private PostgreSQL cluster, and a fresh database of it for each scenario.

use std::{
    path::{Path, PathBuf},
    process::Command,
    str::FromStr,
    time::Duration,
};

use anyhow::{Context, bail};
use rustix::process::Signal;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, postgres::PgConnectOptions};

use crate::{
    process::{Launch, Process},
    wait,
};

/// How long the cluster may take until it answers; after a crash it replays its log first.
const PATIENCE: Duration = Duration::from_mins(1);
/// The role that the shop uses. Not a superuser, so that rights can be taken from it.
const ROLE: &str = "shop";
/// The database that others are copied from; its schema is there.
const TEMPLATE: &str = "shop_template";

/// A cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    folder: PathBuf,
    programs: PathBuf,
    user: Option<&'static str>,
    process: Option<Process>,
}

/// A database of the cluster.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// Its name.
    pub(crate) name: String,
    sockets: PathBuf,
}

impl Cluster {
    /// Makes a cluster in this folder and starts it.
    pub(crate) async fn create(folder: PathBuf) -> anyhow::Result<Self> {
        // PostgreSQL refuses to run as root.
        let user = rustix::process::geteuid().is_root().then_some("postgres");
        std::fs::create_dir_all(&folder)?;
        if let Some(user) = user {
            done(Command::new("chown").arg(user).arg(&folder))?;
        }
        let mut cluster = Self {
            programs: programs()?,
            folder,
            user,
            process: None,
        };
        let mut initdb = cluster
            .launch(&cluster.log())
            .command(cluster.programs.join("initdb"));
        initdb
            .args([
                "-U",
                "seckill",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--no-sync",
                "-D",
            ])
            .arg(cluster.folder.join("data"));
        done(&mut initdb)?;
        cluster.restart().await?;
        cluster.run(&format!("CREATE ROLE {ROLE} LOGIN")).await?;
        cluster
            .run(&format!("CREATE DATABASE {TEMPLATE} OWNER {ROLE}"))
            .await?;
        Ok(cluster)
    }

    fn log(&self) -> PathBuf {
        self.folder.with_extension("log")
    }

    fn launch<'a>(&self, log: &'a Path) -> Launch<'a> {
        Launch {
            name: "PostgreSQL",
            log,
            user: self.user,
            // "Immediate": it frees what it shares, and recovers at the next start.
            last_signal: "QUIT",
        }
    }

    /// Starts the cluster and waits until it answers.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        self.restart_silently()?;
        self.ready().await
    }

    /// Waits until it answers, and starts it again if it could not start.
    pub(crate) async fn ready(&mut self) -> anyhow::Result<()> {
        let mut process = self.process.take().context("PostgreSQL was not started")?;
        let answered = wait::until("PostgreSQL answers", PATIENCE, async || {
            if !process.runs() {
                // The backends of a killed postmaster may need a moment to notice; until then a start is refused.
                process = self.spawn()?;
            }
            self.admin("postgres").await?.close().await?;
            Ok(true)
        })
        .await;
        self.process = Some(process);
        answered.map(drop)
    }

    /// Starts the cluster and does not wait.
    pub(crate) fn restart_silently(&mut self) -> anyhow::Result<()> {
        self.process = None;
        self.process = Some(self.spawn()?);
        Ok(())
    }

    fn spawn(&self) -> anyhow::Result<Process> {
        let log = self.log();
        let launch = self.launch(&log);
        let mut command = launch.command(self.programs.join("postgres"));
        command
            .arg("-D")
            .arg(self.folder.join("data"))
            .arg("-k")
            .arg(&self.folder)
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "max_connections=60",
                "-c",
                "shared_buffers=32MB",
            ])
            // Processes are killed here, not machines: what was written survives without it, and recovery takes
            // milliseconds instead of a minute.
            .args(["-c", "fsync=off"]);
        launch.start(command)
    }

    /// Kills the postmaster as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// "Immediate" shutdown: no goodbye, recovery at the next start.
    pub(crate) async fn stop_at_once(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.process.take() {
            process.stop(Signal::QUIT).await?;
        }
        Ok(())
    }

    /// Ends it in good order.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<()> {
        if let Some(mut process) = self.process.take() {
            process.stop(Signal::INT).await?;
        }
        Ok(())
    }

    /// A connection with all rights.
    pub(crate) async fn admin(&self, database: &str) -> anyhow::Result<PgConnection> {
        admin(&self.folder, database).await
    }

    /// Runs a statement about a database or a role.
    pub(crate) async fn run(&self, sql: &str) -> anyhow::Result<()> {
        let mut con = self.admin("postgres").await?;
        sqlx::query(AssertSqlSafe(sql.to_owned()))
            .execute(&mut con)
            .await?;
        con.close().await?;
        Ok(())
    }

    /// The database that others are copied from, for `server migrate`.
    pub(crate) fn template(&self) -> Database {
        Database {
            name: TEMPLATE.to_owned(),
            sockets: self.folder.clone(),
        }
    }

    /// Drops a database, whoever is connected.
    pub(crate) async fn drop_database(&self, name: &str) -> anyhow::Result<()> {
        self.run(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
            .await
    }

    /// Makes a fresh database with the schema.
    pub(crate) async fn database(&self, name: &str) -> anyhow::Result<Database> {
        self.drop_database(name).await?;
        self.run(&format!(
            "CREATE DATABASE {name} TEMPLATE {TEMPLATE} OWNER {ROLE}"
        ))
        .await?;
        Ok(Database {
            name: name.to_owned(),
            sockets: self.folder.clone(),
        })
    }
}

impl Database {
    /// Its address for the shop.
    pub(crate) fn url(&self) -> String {
        format!(
            "postgresql:///{}?host={}&user={ROLE}",
            self.name,
            self.sockets.display()
        )
    }

    /// Its address for the shop behind a proxy on this port.
    pub(crate) fn proxied_url(&self, port: u16) -> String {
        format!(
            "postgresql://{ROLE}@127.0.0.1:{port}/{}?sslmode=disable",
            self.name
        )
    }

    /// The cluster's socket, for the proxy.
    pub(crate) fn socket(&self) -> PathBuf {
        self.sockets.join(".s.PGSQL.5432")
    }

    /// A connection with all rights, for looking behind the curtain and for making trouble.
    pub(crate) async fn connect(&self) -> anyhow::Result<PgConnection> {
        admin(&self.sockets, &self.name).await
    }

    /// One number from one query.
    pub(crate) async fn number(&self, sql: &'static str) -> anyhow::Result<i64> {
        let mut con = self.connect().await?;
        let number = sqlx::query_scalar(sql).fetch_one(&mut con).await?;
        con.close().await?;
        Ok(number)
    }

    /// Runs statements.
    pub(crate) async fn run(&self, sql: &str) -> anyhow::Result<()> {
        let mut con = self.connect().await?;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut con)
            .await?;
        con.close().await?;
        Ok(())
    }
}

async fn admin(sockets: &Path, database: &str) -> anyhow::Result<PgConnection> {
    let url = format!("postgresql:///{database}?host={}&user=seckill", sockets.display());
    let connect = PgConnectOptions::from_str(&url)?;
    Ok(tokio::time::timeout(Duration::from_secs(5), connect.connect()).await??)
}

/// Debian keeps the server's programs off the PATH, a folder for each version.
fn programs() -> anyhow::Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let newest = versions
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("postgres").exists())
        .max();
    newest.context("PostgreSQL is not installed: run scripts/setup test")
}

fn done(command: &mut Command) -> anyhow::Result<()> {
    let output = command.output().context("a program can't be started")?;
    if !output.status.success() {
        bail!(
            "{command:?} failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}
