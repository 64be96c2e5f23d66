//! Killing a strategy's process in the middle of its sale: what shoppers were told, against what is written once another
//! process has taken up what was left.

use std::{
    collections::HashSet,
    io::Write,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Args;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{
    Kind, Venue,
    drive::drive,
    open,
    prepare::{Ground, Stores},
    venue::Addresses,
};

/// The longest that a child may take to half of its sale.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a child process is told.
#[derive(Debug, Args)]
pub(crate) struct ChildArgs {
    which: Kind,
    #[arg(long)]
    stock: i64,
    #[arg(long, env = "SECKILL_DATABASE_URL", hide_env_values = true)]
    database: String,
    #[arg(
        long,
        env = "SECKILL_REDIS_URL",
        value_delimiter = ',',
        hide_env_values = true
    )]
    redis: Vec<String>,
}

/// Sells, and prints each accepted shopper at once, until killed.
pub(crate) async fn child(args: &ChildArgs) -> Result<()> {
    let at = Addresses {
        database: args.database.clone(),
        redis: args.redis.clone(),
    };
    let venue = Venue::open(at, args.stock, false).await?;
    let users = venue.users(args.stock * 2).await?;
    let strategy = Arc::from(open(args.which, &venue).await?);
    drive(strategy, users.into(), false, tell).await?;
    std::future::pending().await
}

fn tell(user: i64) {
    // A reader that has gone means that the end is near.
    let _ = writeln!(std::io::stdout().lock(), "{user}");
}

/// Shoppers who were told "accepted" and have no order after the kill and the recovery.
pub(super) async fn lost_after_kill(kind: Kind, ground: &Ground, stock: i64) -> Result<usize> {
    let (stores, venue) = ground.run(kind, stock, false).await?;
    let told = killed_half_way(kind, &stores, stock).await?;
    let survivor = open(kind, &venue).await?;
    tokio::time::timeout(PATIENCE, survivor.settle())
        .await
        .context("recovery does not end")??;
    let written: HashSet<i64> = venue.owners().await?.into_iter().collect();
    Ok(told.difference(&written).count())
}

async fn killed_half_way(kind: Kind, stores: &Stores, stock: i64) -> Result<HashSet<i64>> {
    let mut child = Command::new("setpriv")
        .args(["--pdeathsig", "KILL"])
        .arg(std::env::current_exe()?)
        .args(["strategy", &kind.word(), "--stock", &stock.to_string()])
        .env("SECKILL_DATABASE_URL", &stores.at.database)
        .env("SECKILL_REDIS_URL", stores.at.redis.join(","))
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().context("the child has no output")?;
    let mut lines = BufReader::new(tokio::process::ChildStdout::from_std(out)?).lines();
    let half = usize::try_from(stock / 2)?;
    let mut told = HashSet::new();
    let reading = async {
        while let Some(line) = lines.next_line().await? {
            told.insert(line.parse::<i64>()?);
            if told.len() == half {
                child.kill()?;
            }
        }
        anyhow::Ok(())
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    let _ = child.kill();
    child.wait()?;
    // A strategy that undersells may never get to half.
    if let Ok(read) = read {
        read?;
    }
    Ok(told)
}
