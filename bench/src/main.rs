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

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    // The root future stays on this thread, and so do the children's parents: `setpriv` ends a child with the thread
    // that made it.
    match runtime.block_on(cli::dispatch(cli::Cli::parse())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("bench: {error:#}");
    ExitCode::FAILURE
}
