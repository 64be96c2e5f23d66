//! A private Redis that can be killed, stopped and started again on the same data.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use redis::aio::MultiplexedConnection;
use rustix::process::Signal;

use crate::{
    process::{Launch, Process},
    wait,
};

/// How long a Redis may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);

/// A Redis process, reached over a unix socket.
#[derive(Debug)]
pub(crate) struct PrivateRedis {
    folder: PathBuf,
    settings: Vec<String>,
    process: Option<Process>,
}

impl PrivateRedis {
    /// Starts one as it is in production, with this `appendfsync`, on a fresh folder.
    pub(crate) async fn start(folder: PathBuf, fsync: &str) -> anyhow::Result<Self> {
        Self::start_with(folder, &["--appendfsync", fsync]).await
    }

    /// Starts one with these settings besides.
    pub(crate) async fn start_with(folder: PathBuf, besides: &[&str]) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let settings = ["--appendonly", "yes", "--maxmemory-policy", "noeviction"];
        let mut redis = Self {
            folder,
            settings: settings.iter().chain(besides).map(ToString::to_string).collect(),
            process: None,
        };
        redis.restart().await?;
        Ok(redis)
    }

    /// Makes a replica, lets it catch up, and makes it a primary: a copy as of now, which hears of nothing later.
    pub(crate) async fn twin(&self, folder: PathBuf) -> anyhow::Result<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?
            .local_addr()?
            .port()
            .to_string();
        self.run::<()>(&["CONFIG", "SET", "port", &port]).await?;
        let twin = Self::start_with(folder, &["--appendfsync", "always"]).await?;
        twin.run::<()>(&["REPLICAOF", "127.0.0.1", &port]).await?;
        wait::until("the replica has caught up", PATIENCE, async || {
            let state: String = twin.run(&["INFO", "replication"]).await?;
            Ok(state.contains("master_link_status:up"))
        })
        .await?;
        twin.run::<()>(&["REPLICAOF", "NO", "ONE"]).await?;
        self.run::<()>(&["CONFIG", "SET", "port", "0"]).await?;
        Ok(twin)
    }

    /// Adds a setting for the next start; it comes after the others and wins.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.settings.extend([name.to_owned(), value.to_owned()]);
    }

    /// Starts the process, on whatever data there are, and waits until it answers.
    pub(crate) async fn restart(&mut self) -> anyhow::Result<()> {
        self.restart_silently()?;
        self.ready().await
    }

    /// Waits until it answers.
    pub(crate) async fn ready(&self) -> anyhow::Result<()> {
        wait::until("Redis answers", PATIENCE, async || {
            redis::cmd("PING").exec_async(&mut self.connect().await?).await?;
            Ok(true)
        })
        .await?;
        Ok(())
    }

    /// Starts the process and does not wait.
    pub(crate) fn restart_silently(&mut self) -> anyhow::Result<()> {
        self.kill();
        let socket = self.socket();
        let _ = std::fs::remove_file(&socket);
        let log = self.folder.join("redis.log");
        let launch = Launch {
            name: "Redis",
            log: &log,
            user: None,
            last_signal: "KILL",
        };
        let mut command = launch.command("redis-server");
        command
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(&self.folder)
            .args(&self.settings);
        self.process = Some(launch.start(command)?);
        Ok(())
    }

    /// Kills it as `kill -9` does; the data stay.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Sends a signal.
    pub(crate) fn signal(&mut self, signal: Signal) -> anyhow::Result<()> {
        self.process
            .as_mut()
            .map_or(Ok(()), |process| process.signal(signal))
    }

    /// Throws the data away; the process must be down.
    pub(crate) fn lose_everything(&mut self) -> anyhow::Result<()> {
        self.kill();
        let _ = std::fs::remove_file(self.folder.join("dump.rdb"));
        match std::fs::remove_dir_all(self.append_folder()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Where the append-only files are.
    pub(crate) fn append_folder(&self) -> PathBuf {
        self.folder.join("appendonlydir")
    }

    /// Its socket.
    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("redis.sock")
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// A connection for looking behind the curtain.
    pub(crate) async fn connect(&self) -> anyhow::Result<MultiplexedConnection> {
        connect(&self.url()).await
    }

    /// Runs one command and returns its answer.
    pub(crate) async fn run<T: redis::FromRedisValue>(&self, words: &[&str]) -> anyhow::Result<T> {
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(word);
        }
        Ok(command.query_async(&mut self.connect().await?).await?)
    }
}

/// A connection that answers within seconds or fails.
pub(crate) async fn connect(url: &str) -> anyhow::Result<MultiplexedConnection> {
    let config = redis::AsyncConnectionConfig::new()
        .set_connection_timeout(Some(Duration::from_secs(1)))
        .set_response_timeout(Some(Duration::from_secs(5)));
    Ok(redis::Client::open(url)?
        .get_multiplexed_async_connection_with_config(&config)
        .await?)
}
