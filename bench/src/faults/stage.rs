//! Where scenarios play: the run's folder, its cluster and the server binary.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{
    shop::{Setup, Shop},
    stores::Cluster,
};

/// The surroundings of all scenarios.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Sockets and data; gone after the run.
    pub(crate) folder: PathBuf,
    /// Logs, histories and the report; kept.
    pub(crate) out: PathBuf,
    /// The server, built with fail-points.
    pub(crate) binary: PathBuf,
    /// PostgreSQL.
    pub(crate) cluster: Cluster,
    /// The scenario that plays.
    pub(crate) scenario: &'static str,
    /// Its seed.
    pub(crate) seed: u64,
    /// Seconds of the soak.
    pub(crate) soak: u64,
}

impl Stage {
    /// Makes the folder, the cluster and the schema.
    pub(crate) async fn build(binary: &Path, out: &Path) -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("seckill-faults-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("site/pkg"))?;
        std::fs::create_dir_all(out)?;
        // Pages are not looked at; the server wants to see a built site all the same.
        let assets = r#"{"js":"/pkg/none.js","wasm":"/pkg/none.wasm","css":"/pkg/none.css"}"#;
        std::fs::write(folder.join("site/assets.json"), assets)?;
        let cluster = Cluster::create(folder.join("pg")).await?;
        let stage = Self {
            folder,
            out: out.canonicalize()?,
            binary: binary
                .canonicalize()
                .with_context(|| format!("{} is missing: run `make faults`", binary.display()))?,
            cluster,
            scenario: "",
            seed: 0,
            soak: 60,
        };
        stage.server(
            &["migrate"],
            "redis://127.0.0.1:1",
            &stage.cluster.template().url(),
        )?;
        Ok(stage)
    }

    /// The name of the scenario that plays, for files and databases.
    pub(crate) fn name(&self) -> String {
        self.scenario.to_lowercase().replace('-', "_")
    }

    /// Removes what the scenario left in the stores, so that a long run does not fill the disk.
    pub(crate) async fn sweep(&self) {
        let name = self.name();
        let _ = self.cluster.drop_database(&format!("s_{name}")).await;
        for folder in [format!("redis-{name}"), format!("redis-{name}.replica")] {
            let _ = std::fs::remove_dir_all(self.folder.join(folder));
        }
    }

    /// Opens a shop for the scenario that plays.
    pub(crate) async fn open(&self, setup: Setup) -> anyhow::Result<Shop> {
        Shop::open(self, setup).await
    }

    /// Runs one of the server's short commands and returns what it prints.
    pub(crate) fn server(&self, words: &[&str], redis: &str, database: &str) -> anyhow::Result<String> {
        let output = Command::new(&self.binary)
            .args(words)
            .env("SECKILL_REDIS_URL", redis)
            .env("SECKILL_DATABASE_URL", database)
            .current_dir("/")
            .output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("server {} failed: {}", words.join(" "), why.trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// A seed for one purpose of the scenario that plays.
    pub(crate) fn seed_for(&self, purpose: u64) -> u64 {
        let name = self.scenario.bytes().fold(7_u64, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        self.seed ^ name.rotate_left(20) ^ purpose.rotate_left(40)
    }

    /// Ends the cluster and removes the folder.
    pub(crate) async fn strike(mut self) -> anyhow::Result<()> {
        self.cluster.stop().await
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.cluster.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
