//! Builds what the browser loads: WASM, its JavaScript glue, the style sheet.
//!
//! The server learns the content-hashed names from `target/site/assets.json`. cargo decides whether the WASM is fresh;
//! everything after it is skipped when the inputs are the same as last time.

use std::path::Path;

use anyhow::Result;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use self::output::{Assets, Site};

mod output;
mod style;
mod toolchain;
mod wasm;

pub(crate) use self::toolchain::Toolchain;
pub(crate) use self::wasm::Mode;

/// Where the static files of the application are; they are copied as they are.
const PUBLIC: &str = "public";
const STYLE: &str = "style";

/// Builds the site, or finds that it is up to date.
pub(crate) fn build(root: &Path, mode: Mode, toolchain: Option<Toolchain>) -> Result<()> {
    let wasm = wasm::compile(root, mode, toolchain)?;
    let site = Site::at(&root.join("target/site"));
    let inputs = inputs(root, mode, &wasm)?;
    if site.is_built_from(&inputs) {
        eprintln!("site: up to date");
        return Ok(());
    }
    let pack = wasm::pack(root, mode, &wasm)?;
    let css = style::bundle(&root.join(STYLE).join("main.css"))?;
    let compress = mode == Mode::Release;
    let assets = Assets {
        js: site.add("seckill", "js", &pack.js, compress)?,
        wasm: site.add("seckill", "wasm", &pack.wasm, compress)?,
        css: site.add("seckill", "css", css.as_bytes(), compress)?,
    };
    site.copy_public(&root.join(PUBLIC))?;
    site.publish(&assets, &inputs)?;
    eprintln!("site: built {} {} {}", assets.js, assets.wasm, assets.css);
    Ok(())
}

/// One hash over all that the result depends on.
fn inputs(root: &Path, mode: Mode, wasm: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update([u8::from(mode == Mode::Release)]);
    hash.update(std::fs::read(wasm)?);
    hash.update(std::fs::read(root.join(wasm::TOOLS).join("package-lock.json"))?);
    // Stands for this program's own version: reading all of it would take longer than the rest.
    let program = std::fs::metadata(std::env::current_exe()?)?;
    hash.update(format!("{} {:?}", program.len(), program.modified()?));
    for folder in [STYLE, PUBLIC] {
        for entry in WalkDir::new(root.join(folder))
            .sort_by_file_name()
            .into_iter()
            .filter_map(Result::ok)
        {
            if entry.file_type().is_file() {
                hash.update(entry.path().strip_prefix(root)?.as_os_str().as_encoded_bytes());
                hash.update(std::fs::read(entry.path())?);
            }
        }
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
