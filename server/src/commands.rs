//! What the binary does, a function a command.

use std::{fmt::Write as _, io::Write, process::ExitCode, sync::Arc};

use anyhow::{Context, bail};
use engine::{Engine, EngineSettings, SystemClock};
use prometheus_client::registry::Registry;

use crate::{
    config::{AdminCommand, Cli, Command},
    doctor, log, serve,
};

/// Runs a command. Exit code 1: it could not be done, the reason is printed.
pub(crate) fn run(cli: Cli) -> ExitCode {
    let json = matches!(&cli.command, Command::Serve(serve) if serve.log_json);
    log::to_stderr(json);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "the runtime could not be started");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(dispatch(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(cli: Cli) -> anyhow::Result<()> {
    match &cli.command {
        Command::Serve(serve) => serve::serve(serve, serve.settings(&cli.stores)?).await,
        Command::Migrate => Engine::migrate(&cli.stores.settings("migrate")?)
            .await
            .context("the schema could not be brought up to date"),
        Command::Doctor(serve) => doctor::examine(serve, serve.settings(&cli.stores)).await,
        Command::Admin {
            command: AdminCommand::Grant { phone },
        } => {
            let engine = start(cli.stores.settings("admin")?).await?;
            let user = engine.grant_admin(phone).await?;
            say(&format!("account {user} is an admin now"))
        }
        Command::MintSessions { count } => mint(cli.stores.settings("mint")?, *count).await,
    }
}

async fn start(settings: EngineSettings) -> anyhow::Result<Engine> {
    let engine = Engine::start(settings, Arc::new(SystemClock), &mut Registry::default()).await;
    engine.context("the stores can't be reached")
}

async fn mint(settings: EngineSettings, count: u32) -> anyhow::Result<()> {
    let engine = start(settings).await?;
    if !engine.is_demo().await? {
        bail!("sessions are minted in demo mode only: start the shop with `serve --demo` first");
    }
    let mut lines = String::new();
    for (user, token) in engine.mint_sessions(count).await? {
        // Writing to a String can't fail.
        let _ = writeln!(lines, "{user} {}", token.secret());
    }
    say(lines.trim_end())
}

/// Results go to standard output; a reader that has gone away is no error of ours.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
