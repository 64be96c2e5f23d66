//! The system under test: server processes, each started again on the same port after it died.

use std::{net::TcpListener, path::PathBuf, time::Duration};

use anyhow::{Context, bail};
use rustix::process::Signal;

use crate::{
    http::{Call, Client},
    process::{Launch, Process},
    wait,
};

/// How long a server may take until it answers; several start at once on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a server is told at its start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spec {
    /// `web`, `worker`, `all`.
    pub(crate) role: &'static str,
    variables: Vec<(&'static str, String)>,
}

impl Spec {
    /// Answers people.
    pub(crate) fn web() -> Self {
        Self {
            role: "web",
            ..Self::default()
        }
    }

    /// Settles orders.
    pub(crate) fn worker() -> Self {
        Self {
            role: "worker",
            ..Self::default()
        }
    }

    /// Does both.
    pub(crate) fn both() -> Self {
        Self {
            role: "all",
            ..Self::default()
        }
    }

    /// Fails at a point, such as `C4:abort:nth=3`; at its first start only.
    pub(crate) fn fails(self, plan: impl Into<String>) -> Self {
        self.with("FAILPOINT", plan)
    }

    /// Breaks a rule on purpose.
    pub(crate) fn breaks(self, rule: &str) -> Self {
        self.with("SABOTAGE", rule)
    }

    /// With a setting.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.retain(|(held, _)| *held != name);
        self.variables.push((name, value.into()));
        self
    }
}

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    spec: Spec,
    binary: PathBuf,
    surroundings: Vec<(&'static str, String)>,
    log: PathBuf,
    port: u16,
    process: Option<Process>,
}

impl Server {
    /// Prepares a server with these variables around it; not started yet.
    pub(crate) fn new(
        spec: Spec,
        binary: PathBuf,
        surroundings: Vec<(&'static str, String)>,
        log: PathBuf,
    ) -> anyhow::Result<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        Ok(Self {
            spec,
            binary,
            surroundings,
            log,
            port,
            process: None,
        })
    }

    /// Where it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// `web`, `worker`, `all`.
    pub(crate) const fn role(&self) -> &'static str {
        self.spec.role
    }

    /// Whether it answers people.
    pub(crate) fn is_web(&self) -> bool {
        self.spec.role != "worker"
    }

    /// Forgets the fail-point: the next start is a sound one.
    pub(crate) fn mend(&mut self) {
        self.spec.variables.retain(|(name, _)| *name != "FAILPOINT");
    }

    /// Changes what the next start is told.
    pub(crate) fn tell(&mut self, name: &'static str, value: impl Into<String>) {
        self.spec = std::mem::take(&mut self.spec).with(name, value);
    }

    /// Starts the process and does not wait.
    pub(crate) fn launch(&mut self) -> anyhow::Result<()> {
        self.process = None;
        let launch = Launch {
            name: "a server",
            log: &self.log,
            user: None,
            last_signal: "KILL",
        };
        let mut command = launch.command(&self.binary);
        command
            .arg("serve")
            .env("SECKILL_ROLE", self.spec.role)
            .env("SECKILL_LISTEN", format!("127.0.0.1:{}", self.port))
            .envs(self.surroundings.iter().map(|(name, value)| (name, value)))
            .envs(self.spec.variables.iter().map(|(name, value)| (name, value)));
        self.process = Some(launch.start(command)?);
        Ok(())
    }

    /// Waits until it answers.
    pub(crate) async fn ready(&mut self) -> anyhow::Result<()> {
        let mut client = Client::new(self.port);
        let what = format!("a server ({}) answers", self.spec.role);
        let answered = wait::until(&what, PATIENCE, async || {
            if !self.runs() {
                // A supervisor starts it again, as often as it takes.
                self.launch()?;
            }
            let answer = client.call(&Call::get("/healthz"), Duration::from_secs(1)).await;
            Ok(answer.is_ok_and(|reply| reply.status.is_success()))
        });
        answered
            .await
            .with_context(|| format!("its log is {}", self.log.display()))
            .map(drop)
    }

    /// Whether its process runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.process.as_mut().is_some_and(Process::runs)
    }

    /// Waits until it has died by itself.
    pub(crate) async fn dies(&mut self, within: Duration) -> anyhow::Result<()> {
        match &mut self.process {
            Some(process) => process.gone(within).await.map(drop),
            None => bail!("a server that was never started can't die"),
        }
    }

    /// Kilobytes of memory that its process holds.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let process = self.process.as_ref().context("the server does not run")?;
        process.memory()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            process.kill();
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&mut self, signal: Signal) -> anyhow::Result<()> {
        self.process
            .as_mut()
            .map_or(Ok(()), |process| process.signal(signal))
    }

    /// SIGTERM, and how long it took; `None`: it had to be killed.
    pub(crate) async fn stop(&mut self) -> anyhow::Result<Option<Duration>> {
        let began = tokio::time::Instant::now();
        match &mut self.process {
            Some(process) => Ok(process.stop(Signal::TERM).await?.then(|| began.elapsed())),
            None => Ok(Some(Duration::ZERO)),
        }
    }
}
