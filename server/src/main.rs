//! The one binary: `serve`, `migrate`, `doctor`, `admin grant`, `mint-sessions`.

mod auth;
mod commands;
mod config;
mod demo;
mod doctor;
mod gate;
mod gauges;
mod hmdp;
mod listen;
mod log;
mod observe;
mod ops;
mod pages;
mod problem;
mod rest;
mod security;
mod serve;
mod state;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let cli = config::Cli::parse();
    commands::run(cli)
}
