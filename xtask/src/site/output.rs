//! The site's folder: hashed names, compressed copies, and the generation before.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

/// The public path of the hashed files.
const PKG: &str = "/pkg/";
/// Hex digits of the content's hash in a file name.
const HASH_DIGITS: usize = 16;

/// The paths under which the browser finds the current generation; the server reads them at its start.
#[derive(Serialize, Deserialize)]
pub(super) struct Assets {
    pub(super) js: String,
    pub(super) wasm: String,
    pub(super) css: String,
}

impl Assets {
    fn paths(&self) -> [&str; 3] {
        [&self.js, &self.wasm, &self.css]
    }
}

pub(super) struct Site {
    dir: PathBuf,
}

impl Site {
    pub(super) fn at(dir: &Path) -> Self {
        Self {
            dir: dir.to_path_buf(),
        }
    }

    /// Whether the published generation was built from these inputs and is still whole.
    pub(super) fn is_built_from(&self, inputs: &str) -> bool {
        fs::read_to_string(self.dir.join("inputs")).is_ok_and(|built| built == inputs)
            && self
                .assets()
                .is_some_and(|assets| assets.paths().iter().all(|path| self.file(path).is_file()))
    }

    /// Writes a file under a name that carries its content's hash; gives its public path.
    pub(super) fn add(&self, stem: &str, extension: &str, content: &[u8], compress: bool) -> Result<String> {
        let hash = super::hex(&Sha256::digest(content));
        let path = format!("{PKG}{stem}.{}.{extension}", &hash[..HASH_DIGITS]);
        let file = self.file(&path);
        fs::create_dir_all(self.dir.join("pkg"))?;
        write(&file, content)?;
        if compress {
            write(&with_suffix(&file, "br"), &brotli(content)?)?;
            write(&with_suffix(&file, "gz"), &gzip(content)?)?;
        }
        Ok(path)
    }

    pub(super) fn copy_public(&self, from: &Path) -> Result<()> {
        for entry in WalkDir::new(from).into_iter().filter_map(Result::ok) {
            let to = self.dir.join(entry.path().strip_prefix(from)?);
            if entry.file_type().is_dir() {
                fs::create_dir_all(&to)?;
            } else {
                fs::copy(entry.path(), &to).with_context(|| format!("can't copy to {}", to.display()))?;
            }
        }
        Ok(())
    }

    /// Makes the generation current. The one before stays, so that a page opened a moment ago still loads; older go.
    pub(super) fn publish(&self, assets: &Assets, inputs: &str) -> Result<()> {
        let previous = self.assets();
        let keep: BTreeSet<PathBuf> = [Some(assets), previous.as_ref()]
            .into_iter()
            .flatten()
            .flat_map(Assets::paths)
            .flat_map(|path| {
                let file = self.file(path);
                [with_suffix(&file, "br"), with_suffix(&file, "gz"), file]
            })
            .collect();
        for entry in fs::read_dir(self.dir.join("pkg"))? {
            let file = entry?.path();
            if !keep.contains(&file) {
                fs::remove_file(&file).with_context(|| format!("can't remove {}", file.display()))?;
            }
        }
        write(&self.dir.join("assets.json"), &serde_json::to_vec_pretty(assets)?)?;
        write(&self.dir.join("inputs"), inputs.as_bytes())
    }

    fn assets(&self) -> Option<Assets> {
        serde_json::from_slice(&fs::read(self.dir.join("assets.json")).ok()?).ok()
    }

    fn file(&self, public_path: &str) -> PathBuf {
        self.dir.join(public_path.trim_start_matches('/'))
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// A running server must never see half a file.
fn write(file: &Path, content: &[u8]) -> Result<()> {
    let unfinished = with_suffix(file, "new");
    fs::write(&unfinished, content)
        .and_then(|()| fs::rename(&unfinished, file))
        .with_context(|| format!("can't write {}", file.display()))
}

fn brotli(content: &[u8]) -> Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        ..Default::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut packed, &params)?;
    Ok(packed)
}

fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation(site: &Site, content: &str) -> Assets {
        let add = |extension| site.add("seckill", extension, content.as_bytes(), true).unwrap();
        let assets = Assets {
            js: add("js"),
            wasm: add("wasm"),
            css: add("css"),
        };
        site.publish(&assets, content).unwrap();
        assets
    }

    #[test]
    fn the_generation_before_stays_and_older_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let site = Site::at(dir.path());
        let [first, second, third] = ["one", "two", "three"].map(|content| generation(&site, content));
        assert!(!site.file(&first.js).exists());
        assert!(!with_suffix(&site.file(&first.js), "br").exists());
        for kept in second.paths().into_iter().chain(third.paths()) {
            assert!(site.file(kept).exists(), "{kept}");
            assert!(with_suffix(&site.file(kept), "gz").exists(), "{kept}");
        }
        assert_eq!(fs::read_dir(dir.path().join("pkg")).unwrap().count(), 18);
    }

    #[test]
    fn it_is_up_to_date_only_while_whole() {
        let dir = tempfile::tempdir().unwrap();
        let site = Site::at(dir.path());
        assert!(!site.is_built_from("one"));
        let assets = generation(&site, "one");
        assert!(site.is_built_from("one"));
        assert!(!site.is_built_from("two"));
        fs::remove_file(site.file(&assets.wasm)).unwrap();
        assert!(!site.is_built_from("one"));
    }

    #[test]
    fn names_follow_the_content() {
        let dir = tempfile::tempdir().unwrap();
        let site = Site::at(dir.path());
        let path = site.add("seckill", "css", b"a{}", false).unwrap();
        assert!(path.starts_with("/pkg/seckill."), "{path}");
        assert_eq!(path, site.add("seckill", "css", b"a{}", false).unwrap());
        assert_ne!(path, site.add("seckill", "css", b"b{}", false).unwrap());
    }
}
