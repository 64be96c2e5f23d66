//! Measures the shop: four crowds, ceilings to compare with, strategies of the literature, and a report.

mod ceilings;
mod cli;
mod drain;
mod load;
mod loader;
mod report;
mod scenario;
mod session;
mod stand;
mod strategies;

use clap::Parser;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // The root future stays on this thread, and so do the children's parents: `setpriv` ends a child with the thread
    // that made it.
    runtime.block_on(cli::dispatch(cli::Cli::parse()))
}
