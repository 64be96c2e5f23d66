//! A Redis process for one test.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use redis::aio::MultiplexedConnection;

/// How long a Redis may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// A private Redis, reached over a unix socket. Ends with this value, and with the test process at the latest.
pub struct TestRedis {
    folder: PathBuf,
    child: Option<Child>,
    settings: Vec<String>,
}

impl TestRedis {
    /// Starts one as it is in production: append-only file always, no eviction.
    pub async fn start() -> Self {
        Self::start_with(&[
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--maxmemory-policy",
            "noeviction",
        ])
        .await
    }

    /// Starts one with these settings.
    pub async fn start_with(settings: &[&str]) -> Self {
        let folder =
            std::env::temp_dir().join(format!("seckill-{:016x}", getrandom::u64().expect("randomness")));
        std::fs::create_dir(&folder).expect("a folder for Redis");
        let settings = settings.iter().map(ToString::to_string).collect();
        let mut server = Self {
            folder,
            child: None,
            settings,
        };
        server.restart().await;
        server
    }

    /// Starts the process again on the same data.
    pub async fn restart(&mut self) {
        self.kill();
        let socket = self.folder.join("redis.sock");
        let _ = std::fs::remove_file(&socket);
        // `setpriv` ends Redis with the test even if that is killed.
        let child = Command::new("setpriv")
            .args([
                "--pdeathsig",
                "KILL",
                "redis-server",
                "--port",
                "0",
                "--save",
                "",
                "--unixsocket",
            ])
            .arg(&socket)
            .arg("--dir")
            .arg(&self.folder)
            .args(&self.settings)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server starts");
        self.child = Some(child);
        let began = Instant::now();
        loop {
            if let Ok(mut con) = self.try_connect().await
                && redis::cmd("PING").exec_async(&mut con).await.is_ok()
            {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "Redis did not start");
            tokio::task::yield_now().await;
        }
    }

    /// Kills the process as `kill -9` does; the data stay for [`TestRedis::restart`].
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// The process id, for signals.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Where it keeps its files.
    pub fn folder(&self) -> &std::path::Path {
        &self.folder
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.folder.join("redis.sock").display())
    }

    /// A connection for looking behind the curtain.
    pub async fn connect(&self) -> MultiplexedConnection {
        self.try_connect().await.expect("Redis is up")
    }

    /// Adds to a number behind everybody's back.
    pub async fn add(&self, key: &str, n: i64) {
        let mut call = redis::cmd("INCRBY");
        call.arg(key).arg(n);
        call.exec_async(&mut self.connect().await)
            .await
            .expect("Redis adds");
    }

    async fn try_connect(&self) -> redis::RedisResult<MultiplexedConnection> {
        redis::Client::open(self.url())?
            .get_multiplexed_async_connection()
            .await
    }
}

impl Drop for TestRedis {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
