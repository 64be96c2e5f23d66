//! The project's own build steps: `cargo xtask site | check | prepare | dev`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

mod check;
mod dev;
mod prepare;
mod run;
mod site;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The project's own build steps")]
struct Args {
    #[command(subcommand)]
    task: Task,
    /// Force the compiler of the browser's half; by default the usual one if it knows the target.
    #[arg(long, global = true, env = "SECKILL_WASM_TOOLCHAIN")]
    wasm_toolchain: Option<site::Toolchain>,
}

#[derive(Subcommand)]
enum Task {
    /// Build the browser's half of the site into target/site.
    Site {
        /// Quick to build instead of small to load: no wasm-opt, no compression.
        #[arg(long)]
        dev: bool,
    },
    /// Fail on a forbidden import and on a file that has grown too long.
    Check,
    /// Renew .sqlx, the offline data of the checked queries, from a live database.
    Prepare {
        /// Change nothing; fail if .sqlx is stale.
        #[arg(long)]
        check: bool,
        /// The database server to do it on; by default a private one is started.
        #[arg(long, env = "DATABASE_URL")]
        database: Option<String>,
    },
    /// Rebuild and restart the server whenever a source file changes.
    Dev,
}

fn main() -> ExitCode {
    match perform(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // The chain of causes, without the backtrace that an inherited RUST_BACKTRACE would add.
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn perform(args: Args) -> Result<()> {
    let root = workspace_root()?;
    match args.task {
        Task::Site { dev } => {
            let mode = if dev { site::Mode::Dev } else { site::Mode::Release };
            site::build(&root, mode, args.wasm_toolchain)
        }
        Task::Check => check::check(&root),
        Task::Prepare { check, database } => prepare::prepare(&root, check, database.as_deref()),
        Task::Dev => dev::watch(&root, args.wasm_toolchain),
    }
}

/// The folder above us whose manifest is the workspace's.
fn workspace_root() -> Result<PathBuf> {
    let here = std::env::current_dir()?;
    let is_root = |dir: &&Path| {
        std::fs::read_to_string(dir.join("Cargo.toml")).is_ok_and(|text| text.contains("[workspace]"))
    };
    here.ancestors()
        .find(is_root)
        .map(Path::to_path_buf)
        .context("run this inside the project")
}
