//! The one binary: `serve`, `migrate`, `doctor`, `admin grant`, `mint-sessions`.

mod auth;
mod commands;
mod config;
mod demo;
mod doctor;
mod gate;
mod gauges;
mod hmdp;
mod hot;
mod listen;
mod log;
mod observe;
mod ops;
mod pages;
mod places;
mod problem;
mod rest;
mod security;
mod serve;
mod state;

use clap::Parser;

/// A grab allocates some thirty times; measured against the system's own, this takes a third off its CPU time, and of
/// those that do it keeps the least for an open stream (docs/adr/0010-threads-and-memory.md).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    let cli = config::Cli::parse();
    commands::run(cli)
}
