//! The life of a serving process: start, watch, stop in two steps.

use std::{future::Future, sync::Arc, time::Duration};

use anyhow::bail;
use axum::{Router, extract::DefaultBodyLimit, http::StatusCode, middleware};
use engine::{Engine, EngineSettings, SystemClock};
use leptos::config::LeptosOptions;
use prometheus_client::registry::Registry;
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;
use tower_http::{catch_panic::CatchPanicLayer, timeout::TimeoutLayer};

use crate::{
    config::{Role, Serve},
    demo, doctor,
    gate::{self, Gate},
    gauges::Gauges,
    hmdp, hot, listen,
    observe::{self, Observer},
    ops, pages,
    places::{Counts, Places},
    rest, security,
    state::{AppState, Shared, Site},
};

/// How long open requests may take to end once the process is told to.
const WEB_GRACE: Duration = Duration::from_secs(5);
/// How long the consumer may take to finish its batch after that.
const WORKER_GRACE: Duration = Duration::from_secs(4);
/// The longest that a handler may think. Streams are answered at once and go on.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two tries to reach a store at start.
const RETRY: Duration = Duration::from_millis(500);

/// Serves until told to stop.
pub(crate) async fn serve(args: &Serve, settings: EngineSettings) -> anyhow::Result<()> {
    let told = CancellationToken::new();
    tokio::spawn(wait_for_signal(told.clone()));
    let mut registry = Registry::default();
    let Some(engine) = reach_stores(&settings, &mut registry, &told).await? else {
        return Ok(());
    };
    check_redis(&engine, args.unsafe_redis).await?;
    doctor::refuse_if_wrong(&engine).await?;

    let work = CancellationToken::new();
    let mut tasks = JoinSet::new();
    if args.role != Role::Worker {
        let (one, stop) = (engine.clone(), work.clone());
        watched(&mut tasks, "the catalogue", async move {
            one.keep_catalogue(&stop).await;
        });
        let (one, stop) = (engine.clone(), work.clone());
        watched(&mut tasks, "the stock board", async move {
            one.keep_board(&stop).await;
        });
    }
    let (one, stop) = (engine.clone(), work.clone());
    watched(&mut tasks, "the news", async move { one.hear_news(&stop).await });
    if args.role != Role::Web {
        watched(&mut tasks, "the guardian", engine.guardian(&work).run());
        for worker in engine.workers(&work) {
            watched(&mut tasks, "a consumer", worker.run());
        }
    }

    let listener = listen::bind(args.listen)?;
    let address = listener.local_addr()?;
    let assets = if args.role == Role::Worker {
        app::Assets::default()
    } else {
        pages::read_assets(&args.site)?
    };
    let leptos = LeptosOptions::builder()
        .output_name("seckill")
        .site_root(args.site.to_string_lossy().into_owned())
        .site_addr(address)
        .build();
    let site = Arc::new(Site {
        demo: args.demo,
        tls: args.tls,
        assets,
    });
    let places = Arc::new(Places::new(
        args.gate.connections.min(listen::file_handles()),
        args.gate.address_connections,
        args.gate.trusted_proxies.clone(),
        Counts::new(&mut registry),
    ));
    let gauges = Arc::new(Gauges::new(&mut registry));
    let observer = Arc::new(Observer::new(&mut registry)?);
    let gate = Arc::new(Gate::new(&args.gate, engine.clone(), site.clone(), &mut registry));
    let state = AppState::new(Shared {
        engine: engine.clone(),
        site,
        registry,
        stop: told.clone(),
        leptos,
    });
    if args.demo && args.role != Role::Worker {
        demo::prepare(&engine).await?;
    }
    tracing::info!(%address, role = ?args.role, consumer = %settings.consumer, "serving");
    if args.demo {
        demo::print_welcome(address)?;
    }

    let router = if args.role == Role::Worker {
        ops::router(gauges).with_state(state)
    } else {
        router(args, state, gate, observer, gauges)
    };
    let header_timeout = args.gate.header_timeout();
    let web = tokio::spawn(listen::serve(
        listener,
        router,
        places,
        header_timeout,
        told.clone(),
    ));

    // A task that ends by itself is a crash: better no process than half of one.
    let crashed = tokio::select! {
        () = told.cancelled() => None,
        Some(ended) = tasks.join_next() => Some(ended.unwrap_or("a task, by a panic")),
    };
    told.cancel();
    // First the web: no new requests, streams say goodbye, open ones end. Then the consumer: the batch in hand is settled.
    let _ = tokio::time::timeout(WEB_GRACE, web).await;
    work.cancel();
    let _ = tokio::time::timeout(WORKER_GRACE, async { while tasks.join_next().await.is_some() {} }).await;
    engine.close().await;
    tracing::info!("stopped");
    match crashed {
        Some(what) => bail!("{what} ended by itself"),
        None => Ok(()),
    }
}

/// Everything that the web half answers.
fn router(
    args: &Serve,
    state: AppState,
    gate: Arc<Gate>,
    observer: Arc<Observer>,
    gauges: Arc<Gauges>,
) -> Router {
    // One stack, since each `layer` of a router boxes every route once more. The first is the outermost.
    let layers = ServiceBuilder::new()
        .layer(middleware::from_fn_with_state(observer.clone(), observe::observe))
        .layer(middleware::from_fn_with_state(state.clone(), security::headers))
        .layer(CatchPanicLayer::new())
        .layer(TimeoutLayer::with_status_code(
            StatusCode::SERVICE_UNAVAILABLE,
            HANDLER_TIMEOUT,
        ))
        .layer(DefaultBodyLimit::max(security::BODY_LIMIT))
        .layer(middleware::from_fn_with_state(gate.clone(), gate::pass))
        .layer(security::cross_site());
    Router::new()
        .merge(rest::router())
        .merge(hmdp::router())
        .merge(ops::router(gauges))
        .merge(pages::assets(&args.site))
        .merge(pages::router(&state))
        .layer(layers)
        .merge(hot::router(observer, gate))
        .with_state(state)
}

fn watched(
    tasks: &mut JoinSet<&'static str>,
    name: &'static str,
    task: impl Future<Output = ()> + Send + 'static,
) {
    tasks.spawn(async move {
        task.await;
        name
    });
}

/// Waits for both stores; they may be starting too. `None`: told to stop meanwhile.
async fn reach_stores(
    settings: &EngineSettings,
    registry: &mut Registry,
    told: &CancellationToken,
) -> anyhow::Result<Option<Engine>> {
    let mut said = false;
    loop {
        match Engine::start(settings.clone(), Arc::new(SystemClock), registry).await {
            Ok(engine) => return Ok(Some(engine)),
            Err(error) if error.is_passing() => {
                if !said {
                    tracing::warn!(%error, "waiting for Redis");
                    said = true;
                }
            }
            Err(error) => return Err(error.into()),
        }
        if told
            .run_until_cancelled(tokio::time::sleep(RETRY))
            .await
            .is_none()
        {
            return Ok(None);
        }
    }
}

async fn check_redis(engine: &Engine, unsafe_redis: bool) -> anyhow::Result<()> {
    let wrong = engine.preflight().await?;
    for line in &wrong {
        tracing::error!("redis: {line}");
    }
    if !wrong.is_empty() && !unsafe_redis {
        bail!(
            "Redis is not set up to keep what is accepted: {}. Or start with --unsafe-redis",
            wrong.join("; ")
        );
    }
    Ok(())
}

async fn wait_for_signal(told: CancellationToken) {
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        tracing::error!("signals can't be heard; stop the process by force");
        return;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
    tracing::info!("stopping: no new requests; what is open ends first");
    told.cancel();
}
