//! Renews `.sqlx`, from which the checked queries are compiled where no database is.
//!
//! sqlx's macros write the data themselves while they expand against a live database, when they are told where to
//! (`SQLX_OFFLINE_DIR`). So this is a `cargo check` of the crate with the SQL, against a scratch database that has all
//! migrations, into an empty folder; only a whole result replaces `.sqlx`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use url::Url;

use crate::run::{command, run};

/// All checked queries are in this crate.
const CRATE: &str = "engine";
const OFFLINE: &str = ".sqlx";

/// Renews the data, or with `only_check` fails if that would change anything.
pub(crate) fn prepare(root: &Path, only_check: bool, database: Option<&str>) -> Result<()> {
    let Some(database) = database else {
        // Start over with a private PostgreSQL beneath.
        let mut again = command(root, "scripts/with-stores");
        again
            .arg("target/prepare-stores")
            .arg(std::env::current_exe()?)
            .arg("prepare");
        return run(again.args(only_check.then_some("--check")));
    };
    let fresh = tempfile::tempdir_in(root.join("target"))?;
    let scratch = Scratch::create(root, database)?;
    for migration in migrations(root)? {
        scratch.sql(root, &["--file".into(), migration.into_os_string()])?;
    }
    touch(&root.join(CRATE).join("src/lib.rs"))?;
    run(command(root, "cargo")
        .args(["check", "--quiet", "--package", CRATE, "--all-targets"])
        .env("DATABASE_URL", scratch.url.as_str())
        .env("SQLX_OFFLINE", "false")
        .env("SQLX_OFFLINE_DIR", fresh.path()))?;

    let (old, new) = (data(&root.join(OFFLINE))?, data(fresh.path())?);
    if old == new {
        eprintln!("prepare: {OFFLINE} is up to date: {} queries", new.len());
        return Ok(());
    }
    if only_check {
        bail!("{OFFLINE} is stale: run cargo xtask prepare and commit the result");
    }
    replace(&root.join(OFFLINE), &new)?;
    eprintln!("prepare: {OFFLINE} renewed: {} queries", new.len());
    Ok(())
}

/// An unchanged crate would not be compiled, and its macros would write nothing.
#[expect(clippy::disallowed_methods, reason = "cargo compares with the real clock")]
fn touch(file: &Path) -> Result<()> {
    Ok(File::open(file)?.set_modified(SystemTime::now())?)
}

/// A database of its own, so that nobody's data matters; dropped at the end.
struct Scratch<'a> {
    root: &'a Path,
    server: String,
    name: String,
    url: Url,
}

impl<'a> Scratch<'a> {
    fn create(root: &'a Path, server: &str) -> Result<Self> {
        let mut url = Url::parse(server).context("DATABASE_URL is not a URL")?;
        let name = format!("prepare_{}", std::process::id());
        url.set_path(&name);
        psql(
            root,
            server,
            &["--command".into(), format!("CREATE DATABASE {name}").into()],
        )?;
        Ok(Self {
            root,
            server: server.to_owned(),
            name,
            url,
        })
    }

    fn sql(&self, root: &Path, args: &[OsString]) -> Result<()> {
        psql(root, self.url.as_str(), args)
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        if let Err(error) = psql(self.root, &self.server, &["--command".into(), drop.into()]) {
            eprintln!("prepare: {} is left over: {error}", self.name);
        }
    }
}

fn psql(root: &Path, url: &str, args: &[OsString]) -> Result<()> {
    let options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"];
    run(command(root, "psql")
        .args(options)
        .arg(format!("--dbname={url}"))
        .args(args))
}

/// The upward half of each pair, in the order in which the server runs them.
fn migrations(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join("migrations")).context("no migrations folder")? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".sql") && !name.ends_with(".down.sql") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Offline data by file name; none if the folder isn't there.
fn data(dir: &Path) -> Result<BTreeMap<OsString, String>> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Ok(BTreeMap::new());
    };
    let mut data = BTreeMap::new();
    for entry in entries {
        let entry = entry?;
        data.insert(entry.file_name(), fs::read_to_string(entry.path())?);
    }
    Ok(data)
}

fn replace(dir: &Path, new: &BTreeMap<OsString, String>) -> Result<()> {
    fs::create_dir_all(dir)?;
    for (name, text) in new {
        fs::write(dir.join(name), text)?;
    }
    for name in data(dir)?.into_keys().filter(|name| !new.contains_key(name)) {
        fs::remove_file(dir.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_run_upwards_and_in_order() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("migrations");
        fs::create_dir(&dir).unwrap();
        for name in ["2_b.up.sql", "1_a.up.sql", "1_a.down.sql", "README.md"] {
            fs::write(dir.join(name), "").unwrap();
        }
        assert_eq!(
            migrations(root.path()).unwrap(),
            [dir.join("1_a.up.sql"), dir.join("2_b.up.sql")]
        );
    }

    #[test]
    fn replacing_leaves_exactly_the_new_data() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join(OFFLINE);
        let of = |names: &[&str]| {
            names
                .iter()
                .map(|name| (OsString::from(*name), "{}".to_owned()))
                .collect()
        };
        replace(&dir, &of(&["query-1.json", "query-2.json"])).unwrap();
        replace(&dir, &of(&["query-2.json", "query-3.json"])).unwrap();
        assert_eq!(data(&dir).unwrap(), of(&["query-2.json", "query-3.json"]));
        assert!(data(&root.path().join("none")).unwrap().is_empty());
    }
}
