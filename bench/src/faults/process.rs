//! Processes that the harness started, and only those: each is known by its handle, ends with it, and with the harness
//! at the latest.

use std::{
    fs::File,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::Context;
use rustix::process::{Pid, Signal};

use crate::wait;

/// How long a process may take to end once it was told to.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// A running process.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    ended: bool,
}

/// What to start, apart from the program's own arguments.
pub(crate) struct Launch<'a> {
    /// For messages.
    pub(crate) name: &'a str,
    /// Its standard output and error go here.
    pub(crate) log: &'a Path,
    /// The user to run as; the harness' own if there is none.
    pub(crate) user: Option<&'a str>,
    /// What the kernel sends it when the harness dies.
    pub(crate) last_signal: &'a str,
}

impl Launch<'_> {
    /// Prepares a command that ends with the harness even if that is killed: `setpriv` arranges it.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", self.last_signal]);
        if let Some(user) = self.user {
            command.args(["--reuid", user, "--regid", user, "--init-groups"]);
        }
        command.arg("--").arg(program).current_dir("/");
        command
    }

    /// Starts it.
    pub(crate) fn start(&self, mut command: Command) -> anyhow::Result<Process> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log)
            .with_context(|| format!("can't write {}", self.log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} can't be started", self.name))?;
        Ok(Process {
            name: self.name.to_owned(),
            child,
            ended: false,
        })
    }
}

impl Process {
    /// Sends a signal, if the process still runs.
    pub(crate) fn signal(&mut self, signal: Signal) -> anyhow::Result<()> {
        // A process that has ended is still ours to wait for, so its number can't be another's.
        if self.runs()
            && let Some(pid) = Pid::from_raw(self.child.id().cast_signed())
        {
            rustix::process::kill_process(pid, signal)
                .with_context(|| format!("{} takes no signal", self.name))?;
        }
        Ok(())
    }

    /// Kilobytes of memory that it holds.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number.context("no VmRSS")?.parse()?)
    }

    /// Whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        if !self.ended && !matches!(self.child.try_wait(), Ok(None)) {
            self.ended = true;
        }
        !self.ended
    }

    /// Kills it as `kill -9` does, and waits for its end.
    pub(crate) fn kill(&mut self) {
        if !self.ended {
            let _ = self.child.kill();
            let _ = self.child.wait();
            self.ended = true;
        }
    }

    /// Waits for its end.
    pub(crate) async fn gone(&mut self, within: Duration) -> anyhow::Result<Duration> {
        let what = format!("{} ends", self.name);
        wait::until(&what, within, async || Ok(!self.runs())).await
    }

    /// Tells it to end and waits; kills it if it does not listen. Returns whether it listened.
    pub(crate) async fn stop(&mut self, signal: Signal) -> anyhow::Result<bool> {
        self.signal(signal)?;
        let listened = self.gone(LAST_WORDS).await.is_ok();
        self.kill();
        Ok(listened)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
