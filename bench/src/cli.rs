//! The command line.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Result;
use clap::{Args, Parser, Subcommand};

use crate::{
    ceilings::{self, Ceiling},
    loader::{self, LoadArgs},
    session,
    strategies::{self, ChildArgs},
};

/// Measures the shop and writes a report.
#[derive(Debug, Parser)]
#[command(name = "bench", max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    whole: WholeArgs,
}

/// Other things than the whole report.
#[derive(Debug, Subcommand)]
enum Command {
    /// Loads any seckill server that a target file describes.
    Load(LoadArgs),
    /// Serves a ceiling; started by the bench itself.
    #[command(hide = true)]
    Ceiling(CeilingArgs),
    /// Sells by a strategy until killed; started by the bench itself.
    #[command(hide = true)]
    Strategy(ChildArgs),
}

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct WholeArgs {
    /// Three minutes instead of twenty: fewer rounds, smaller crowds.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Rounds; the report shows medians. Else 5, with --quick 3.
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// Attempts of one crowd.
    #[arg(long)]
    pub(crate) attempts: Option<u32>,
    /// Only these parts: rounds, curves, drain, strategies, confirm, streams.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Where the report goes.
    #[arg(long, default_value = "target/bench")]
    pub(crate) out: PathBuf,
    /// The server to measure.
    #[arg(long, default_value = "target/release/server")]
    pub(crate) server: PathBuf,
    /// The built site.
    #[arg(long, default_value = "target/site")]
    pub(crate) site: PathBuf,
}

/// What a ceiling is told.
#[derive(Debug, Args)]
struct CeilingArgs {
    which: Ceiling,
    #[arg(long)]
    listen: SocketAddr,
    #[arg(long, env = "SECKILL_REDIS_URL", default_value = "", hide_env_values = true)]
    redis: String,
    #[arg(
        long,
        env = "SECKILL_DATABASE_URL",
        default_value = "",
        hide_env_values = true
    )]
    database: String,
}

/// Does what the command line says.
pub(crate) async fn dispatch(cli: Cli) -> Result<()> {
    match cli.command {
        None => session::whole(&cli.whole).await,
        Some(Command::Load(args)) => loader::load(&args).await,
        Some(Command::Strategy(args)) => strategies::child(&args).await,
        Some(Command::Ceiling(args)) => {
            ceilings::serve(args.which, args.listen, &args.redis, &args.database).await
        }
    }
}
