//! From the crate `frontend` to a small WASM file and its JavaScript glue.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use super::toolchain::{self, Toolchain};
use crate::run::{command, run};

/// Where the tools from npm are installed by `scripts/setup`.
pub(super) const TOOLS: &str = "xtask/tools";

/// rustc uses these features by default, so wasm-opt must allow them.
const FEATURES: [&str; 6] = [
    "bulk-memory",
    "nontrapping-float-to-int",
    "sign-ext",
    "mutable-globals",
    "reference-types",
    "multivalue",
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Quick to build.
    Dev,
    /// Small to load.
    Release,
}

impl Mode {
    fn profile(self) -> &'static str {
        match self {
            Self::Dev => "wasm-dev",
            Self::Release => "wasm-release",
        }
    }
}

/// What the browser runs.
pub(super) struct Pack {
    pub(super) js: Vec<u8>,
    pub(super) wasm: Vec<u8>,
}

/// Lets cargo build `frontend`; gives the raw WASM file.
pub(super) fn compile(root: &Path, mode: Mode, forced: Option<Toolchain>) -> Result<PathBuf> {
    let toolchain = toolchain::choose(root, forced)?;
    run(toolchain
        .cargo(root)
        .args(["build", "--quiet", "--package", "frontend", "--lib"])
        .args(["--target", toolchain::TARGET, "--profile", mode.profile()]))?;
    Ok(toolchain
        .target_dir(root)
        .join(toolchain::TARGET)
        .join(mode.profile())
        .join("frontend.wasm"))
}

/// Generates the glue, then makes both files small.
pub(super) fn pack(root: &Path, mode: Mode, wasm: &Path) -> Result<Pack> {
    let tools = root.join(TOOLS).join("node_modules/.bin");
    ensure!(
        tools.is_dir(),
        "{TOOLS}: its npm packages are missing: run scripts/setup run"
    );
    let work = tempfile::tempdir_in(root.join("target"))?;
    let bound = work.path().join("bound");
    let release = mode == Mode::Release;
    Bindgen::new()
        .input_path(wasm)
        .out_name("seckill")
        .web(true)?
        .typescript(false)
        // The page says where the WASM is: its name carries a hash that the glue can't know.
        .omit_default_module_path(true)
        .remove_name_section(release)
        .remove_producers_section(release)
        .generate(&bound)
        .context("wasm-bindgen failed")?;
    let (raw_js, raw_wasm) = (bound.join("seckill.js"), bound.join("seckill_bg.wasm"));

    // Bundled as well, because a crate may bring snippets of JavaScript in files of their own.
    let js = work.path().join("seckill.js");
    let mut esbuild = command(root, tools.join("esbuild"));
    // There, so that the names it puts into comments are the same at every build.
    esbuild.current_dir(work.path());
    esbuild
        .arg(&raw_js)
        .args(["--bundle", "--format=esm", "--log-level=warning"]);
    run(esbuild
        .arg(format!("--outfile={}", js.display()))
        .args(release.then_some("--minify")))?;

    let small_wasm = work.path().join("seckill.wasm");
    if release {
        let mut wasm_opt = command(root, tools.join("wasm-opt"));
        wasm_opt
            .arg("-Oz")
            .args(FEATURES.map(|feature| format!("--enable-{feature}")));
        run(wasm_opt.arg(&raw_wasm).arg("-o").arg(&small_wasm))?;
    } else {
        fs::rename(raw_wasm, &small_wasm)?;
    }
    Ok(Pack {
        js: fs::read(js)?,
        wasm: fs::read(small_wasm)?,
    })
}
