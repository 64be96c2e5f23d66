//! What Linux says about processes and the machine.

use std::{fs, time::Duration};

use anyhow::{Context, Result};
use serde::Serialize;

/// Clock ticks a second in `/proc`: 100 on every Linux that people run.
const TICKS: u32 = 100;

/// Processor time that a process has used, in user and system mode together.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("the process has ended")?;
    // The name in parentheses may hold spaces; fields are counted after it.
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|text| text.parse::<u32>().ok())
            .context("/proc/…/stat")
    };
    Ok(Duration::from_secs(1) * (ticks(11)? + ticks(12)?) / TICKS)
}

/// Resident memory in bytes.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process has ended")?;
    Ok(kilobytes(&status, "VmRSS:")? * 1024)
}

fn kilobytes(text: &str, name: &str) -> Result<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .with_context(|| name.to_owned())?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// The machine, as it describes itself.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) kernel: String,
    pub(crate) load_before: String,
}

impl Machine {
    /// Reads `/proc`.
    pub(crate) fn read() -> Result<Self> {
        let info = fs::read_to_string("/proc/cpuinfo")?;
        let model = info
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let memory = fs::read_to_string("/proc/meminfo")?;
        let load = fs::read_to_string("/proc/loadavg")?;
        Ok(Self {
            cpu: model.map_or_else(|| "an unnamed processor".into(), |(_, name)| name.to_owned()),
            cores: std::thread::available_parallelism()?.get(),
            memory_gib: (kilobytes(&memory, "MemTotal:")? + 512 * 1024) / (1024 * 1024),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease")?
                .trim()
                .to_owned(),
            load_before: load.split_whitespace().take(2).collect::<Vec<_>>().join(" "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_can_look_at_itself() {
        assert!(cpu(std::process::id()).is_ok());
        assert!(resident(std::process::id()).unwrap() > 1 << 20);
        assert!(Machine::read().unwrap().cores > 0);
    }
}
