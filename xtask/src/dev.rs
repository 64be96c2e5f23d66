//! `make dev`: rebuild and restart whenever a source file changes.

use std::path::Path;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use walkdir::WalkDir;

use crate::run::{command, run};
use crate::site::{self, Mode, Toolchain};

const WATCHED: [&str; 11] = [
    "Cargo.lock",
    "Cargo.toml",
    "domain",
    "engine",
    "app",
    "frontend",
    "server",
    "lua",
    "migrations",
    "style",
    "public",
];
/// How often the files are looked at; a look at a few hundred files takes a millisecond or two.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// How long the server may take to end before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// Runs until it is ended from outside.
pub(crate) fn watch(root: &Path, toolchain: Option<Toolchain>) -> Result<()> {
    let mut server: Option<Child> = None;
    let mut built = None;
    loop {
        let now = state(root);
        if built.as_ref() != Some(&now) {
            match build(root, toolchain) {
                Ok(()) => {
                    if let Some(old) = server.take() {
                        stop(old)?;
                    }
                    server = Some(
                        command(root, "target/debug/server")
                            .args(["serve", "--demo"])
                            .spawn()?,
                    );
                }
                // The old server goes on; the next change tries again.
                Err(error) => eprintln!("dev: {error}"),
            }
            built = Some(now);
        }
        if let Some(child) = &mut server
            && let Some(status) = child.try_wait()?
        {
            eprintln!("dev: the server ended ({status}); it starts again after the next change");
            server = None;
        }
        sleep(LOOK_EVERY);
    }
}

fn build(root: &Path, toolchain: Option<Toolchain>) -> Result<()> {
    run(command(root, "cargo").args(["build", "--quiet", "--package", "server"]))?;
    site::build(root, Mode::Dev, toolchain)?;
    run(command(root, "target/debug/server").arg("migrate"))
}

/// The newest change and the number of files: one of them changes whenever a file is written, added or removed.
fn state(root: &Path) -> (Option<SystemTime>, usize) {
    let entries = WATCHED
        .iter()
        .flat_map(|name| WalkDir::new(root.join(name)))
        .filter_map(Result::ok);
    entries.fold((None, 0), |(newest, count), entry| {
        let modified = entry.metadata().ok().and_then(|data| data.modified().ok());
        (newest.max(modified), count + 1)
    })
}

fn stop(mut server: Child) -> Result<()> {
    run(Command::new("kill").args(["-TERM", &server.id().to_string()]))?;
    let asked = Instant::now();
    while server.try_wait()?.is_none() {
        if asked.elapsed() > STOP_WITHIN {
            server.kill()?;
            server.wait()?;
            break;
        }
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_a_new_file_and_a_removal_are_seen() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("app/src");
        std::fs::create_dir_all(&dir).unwrap();
        let mut states = vec![state(root.path())];
        std::fs::write(dir.join("a.rs"), "").unwrap();
        states.push(state(root.path()));
        let file = std::fs::File::options()
            .write(true)
            .open(dir.join("a.rs"))
            .unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 33))
            .unwrap();
        states.push(state(root.path()));
        std::fs::remove_file(dir.join("a.rs")).unwrap();
        states.push(state(root.path()));
        assert!(states.windows(2).all(|pair| pair[0] != pair[1]), "{states:?}");
    }
}
