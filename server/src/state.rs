//! What handlers share.

use std::{ops::Deref, sync::Arc};

use axum::extract::FromRef;
use engine::Engine;
use leptos::config::LeptosOptions;
use prometheus_client::registry::Registry;
use tokio_util::sync::CancellationToken;

/// Passed to every handler. A clone is one reference more, since a request makes several.
#[derive(Clone)]
pub(crate) struct AppState(Arc<Shared>);

/// What the state holds.
pub(crate) struct Shared {
    /// The engine.
    pub(crate) engine: Engine,
    /// What does not change while the process runs.
    pub(crate) site: Arc<Site>,
    /// All metrics of the process.
    pub(crate) registry: Registry,
    /// The process is going away: streams end, readiness turns red.
    pub(crate) stop: CancellationToken,
    /// For leptos' own routes.
    pub(crate) leptos: LeptosOptions,
}

impl AppState {
    pub(crate) fn new(shared: Shared) -> Self {
        Self(Arc::new(shared))
    }
}

impl Deref for AppState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

/// The shop's fixed facts.
pub(crate) struct Site {
    /// Login codes are shown.
    pub(crate) demo: bool,
    /// Reached over TLS.
    pub(crate) tls: bool,
    /// The names of the built assets.
    pub(crate) assets: app::Assets,
}

impl FromRef<AppState> for Engine {
    fn from_ref(state: &AppState) -> Self {
        state.engine.clone()
    }
}

impl FromRef<AppState> for Arc<Site> {
    fn from_ref(state: &AppState) -> Self {
        state.site.clone()
    }
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(state: &AppState) -> Self {
        state.leptos.clone()
    }
}
