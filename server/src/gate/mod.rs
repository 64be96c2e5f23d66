//! The gate: who may come in, how often, and how many at once. Cheap enough to stand before everything: a grab that
//! passes costs one counter. How often one user may grab is judged by the engine, which knows the user.

mod address;
mod args;
mod class;
mod limiter;
mod refuse;
mod streams;

use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::header::SET_COOKIE,
    middleware::Next,
    response::Response,
};
use engine::Engine;
use ipnet::IpNet;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

pub(crate) use address::of_peer;
pub(crate) use args::GateArgs;

use crate::{
    auth::{self, SharedSite},
    state::Site,
};
use class::Class;
use limiter::AddressLimiter;
use refuse::Refusal;
use streams::Streams;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    why: &'static str,
}

/// The gate of a process.
pub(crate) struct Gate {
    engine: Engine,
    site: SharedSite,
    trusted: Vec<IpNet>,
    log_ins: Option<AddressLimiter>,
    pages: Option<AddressLimiter>,
    grabs: AtomicUsize,
    most_grabs: usize,
    streams: Arc<Streams>,
    refused: Family<Why, Counter>,
}

impl Gate {
    pub(crate) fn new(args: &GateArgs, engine: Engine, site: SharedSite, registry: &mut Registry) -> Self {
        let (open, refused) = (Gauge::default(), Family::default());
        registry.register("seckill_sse_open", "Event streams open", open.clone());
        registry.register(
            "seckill_gate_refused",
            "Calls that the gate refused, by reason",
            Family::clone(&refused),
        );
        Self {
            engine,
            site,
            trusted: args.trusted_proxies.clone(),
            log_ins: AddressLimiter::new(args.address_login_rate, args.address_login_burst),
            pages: AddressLimiter::new(args.address_page_rate, args.address_page_burst),
            grabs: AtomicUsize::new(0),
            most_grabs: args.grabs_in_flight,
            streams: Arc::new(Streams::new(
                args.streams,
                args.session_streams,
                args.address_streams,
                open,
            )),
            refused,
        }
    }

    /// One more grab is under way, unless there are too many.
    fn grab(&self) -> Option<Under<'_>> {
        let under = Under(&self.grabs);
        (self.grabs.fetch_add(1, Ordering::Relaxed) < self.most_grabs).then_some(under)
    }

    /// Lets a grab pass, unless too many are under way: those inside stay fast.
    pub(crate) async fn grab_or_refuse(&self, request: Request, next: Next) -> Response {
        match self.grab() {
            Some(_under) => next.run(request).await,
            None => self.refuse("grabs_in_flight", &request, Refusal::Busy),
        }
    }

    fn address(&self, request: &Request) -> Option<IpAddr> {
        let ConnectInfo(peer) = request.extensions().get::<ConnectInfo<SocketAddr>>()?;
        address::client(peer.ip(), request.headers(), &self.trusted)
    }

    fn limited(&self, limiter: Option<&AddressLimiter>, request: &Request) -> Option<Duration> {
        limiter?.call(self.address(request)?)
    }

    fn refuse(&self, why: &'static str, request: &Request, refusal: Refusal) -> Response {
        self.refused.get_or_create(&Why { why }).inc();
        refusal.answer(request)
    }
}

/// Counts a grab that is under way.
struct Under<'a>(&'a AtomicUsize);

impl Drop for Under<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets a call pass, or refuses it early.
pub(crate) async fn pass(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    match Class::of(request.method(), request.uri().path()) {
        Class::Free => next.run(request).await,
        Class::LogIn => {
            if let Some(wait) = gate.limited(gate.log_ins.as_ref(), &request) {
                return gate.refuse("address_log_in", &request, Refusal::TooFast(wait));
            }
            let old = auth::token(request.headers(), &gate.site).map(str::to_owned);
            let response = next.run(request).await;
            if let Some(old) = old.filter(|old| replaces(&gate.site, old, &response)) {
                end(&gate.engine, &old).await;
            }
            response
        }
        Class::Stream => {
            if let Some(wait) = gate.limited(gate.pages.as_ref(), &request) {
                return gate.refuse("address_page", &request, Refusal::TooFast(wait));
            }
            let session = auth::token(request.headers(), &gate.site);
            let Some(place) = gate.streams.enter(session, gate.address(&request)) else {
                return gate.refuse("streams", &request, Refusal::Busy);
            };
            next.run(request).await.map(|body| place.hold_in(body))
        }
        Class::Page => match gate.limited(gate.pages.as_ref(), &request) {
            Some(wait) => gate.refuse("address_page", &request, Refusal::TooFast(wait)),
            None => next.run(request).await,
        },
    }
}

/// Whether the answer gives a new session in place of `old`. Looked for here, so that it holds for every way to log in:
/// a session that somebody slipped in beforehand is worth nothing afterwards.
fn replaces(site: &Site, old: &str, response: &Response) -> bool {
    let name = auth::cookie_name(site);
    response.headers().get_all(SET_COOKIE).iter().any(|cookie| {
        let token = cookie
            .to_str()
            .ok()
            .and_then(|cookie| cookie.strip_prefix(name)?.strip_prefix('='))
            .and_then(|cookie| cookie.split(';').next());
        token.is_some_and(|token| !token.is_empty() && token != old)
    })
}

async fn end(engine: &Engine, old: &str) {
    if let Err(error) = engine.log_out(old).await {
        tracing::warn!(%error, "a replaced session could not be ended; it ends when its time is over");
    }
}
