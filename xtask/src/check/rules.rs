//! The arrows of DESIGN.md, as tables.

/// Which crates of the workspace a crate may import.
pub(super) const ARROWS: [(&str, &[&str]); 7] = [
    ("domain", &[]),
    ("engine", &["domain"]),
    ("app", &["domain", "engine"]),
    ("frontend", &["app"]),
    ("server", &["app", "domain", "engine"]),
    ("bench", &["domain", "engine"]),
    ("xtask", &[]),
];

/// Crates from outside that one of ours must do without, and why.
pub(super) const STRANGERS: [(&str, &[&str], &str); 4] = [
    (
        "domain",
        &["axum", "http", "leptos", "redis", "sqlx", "tokio"],
        "domain does no IO: do this in engine or server",
    ),
    (
        "engine",
        &["axum", "http", "hyper", "leptos", "tower"],
        "engine knows neither HTTP nor HTML: do this in server or app",
    ),
    (
        "app",
        &["redis", "sqlx"],
        "pages reach data through engine's façade: add a method there",
    ),
    (
        "server",
        &["redis", "sqlx"],
        "handlers reach data through engine's façade: add a method there",
    ),
];

/// Words that code may use in one place only, or not in one place.
pub(super) struct Place {
    /// Where the rule holds: the beginning of a path.
    pub(super) within: &'static str,
    /// Where the word may stand all the same.
    pub(super) except: &'static [&'static str],
    pub(super) word: &'static str,
    pub(super) remedy: &'static str,
}

/// Help for the tests of several crates; tests may reach round the layers.
const TESTING: &str = "engine/src/testing/";

pub(super) const PLACES: [Place; 4] = [
    Place {
        within: "engine/src/",
        except: &["engine/src/ledger/", "engine/src/ledger.rs", TESTING],
        word: "sqlx",
        remedy: "SQL stands only in engine/src/ledger: move it there",
    },
    Place {
        within: "engine/src/",
        except: &["engine/src/kv/", "engine/src/kv.rs", TESTING],
        word: "redis",
        remedy: "Redis commands stand only in engine/src/kv: move them there",
    },
    Place {
        within: "engine/src/ledger",
        except: &[],
        word: "kv",
        remedy: "ledger and kv don't know each other: join them in a use case",
    },
    Place {
        within: "engine/src/kv",
        except: &[],
        word: "ledger",
        remedy: "ledger and kv don't know each other: join them in a use case",
    },
];
