//! Which compiler builds the browser's half.
//!
//! Usually the one that builds everything else. Where rustup could not fetch the WASM target, `scripts/wasm-toolchain`
//! has built one with Debian's compiler; that one is then used for `frontend` alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::run::{command, output};

pub(super) const TARGET: &str = "wasm32-unknown-unknown";
/// Where `scripts/wasm-toolchain` leaves the sysroot.
const PRIVATE: &str = "target/wasm-toolchain";

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Toolchain {
    /// The one that builds everything else; its WASM target comes from rustup.
    Rustup,
    /// Debian's compiler with a private sysroot.
    Debian,
}

/// The forced toolchain, or the usual one if it knows the target, or the private one if it was built.
pub(super) fn choose(root: &Path, forced: Option<Toolchain>) -> Result<Toolchain> {
    if let Some(forced) = forced {
        return Ok(forced);
    }
    let libs = output(command(root, "rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    if Path::new(libs.trim()).is_dir() {
        Ok(Toolchain::Rustup)
    } else if root.join(PRIVATE).join("ready").is_file() {
        Ok(Toolchain::Debian)
    } else {
        bail!("no compiler here knows the target {TARGET}: run scripts/setup run")
    }
}

impl Toolchain {
    /// cargo, set up for the WASM target.
    pub(super) fn cargo(self, root: &Path) -> Command {
        let mut flags = remapped_paths(root);
        let mut cargo = match self {
            Self::Rustup => command(root, "cargo"),
            Self::Debian => {
                let sysroot = root.join(PRIVATE).join("sysroot");
                flags.extend([
                    format!("--sysroot={}", sysroot.display()),
                    "-Clinker=wasm-ld".to_owned(),
                ]);
                let mut cargo = command(root, "/usr/bin/cargo");
                cargo
                    .env("RUSTC", "/usr/bin/rustc")
                    .env("CARGO_TARGET_DIR", self.target_dir(root));
                cargo.env_remove("RUSTC_WRAPPER");
                cargo
            }
        };
        // Unit separators, because a path may hold a space.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        cargo
    }

    pub(super) fn target_dir(self, root: &Path) -> PathBuf {
        match self {
            Self::Rustup => root.join("target"),
            Self::Debian => root.join(PRIVATE).join("build"),
        }
    }
}

/// Panic messages name source files: the builder's folders are nobody's business, and the same sources should give
/// the same bytes everywhere.
fn remapped_paths(root: &Path) -> Vec<String> {
    let mut flags = vec![format!("--remap-path-prefix={}=.", root.display())];
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registries = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    for registry in registries.into_iter().flatten().filter_map(Result::ok) {
        flags.push(format!(
            "--remap-path-prefix={}=crates",
            registry.path().display()
        ));
    }
    flags
}
