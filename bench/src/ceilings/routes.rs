//! A0 to A2: servers that do less and less of what ours does, run as child processes like ours.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Result;
use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt,
};
use domain::{OrderId, VoucherId};
use engine::{Engine, EngineSettings, SystemClock};
use prometheus_client::registry::Registry;
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Ceiling {
    /// A0: the same bytes to whatever comes.
    Canned,
    /// A1: an axum route that does nothing.
    Empty,
    /// A2: session, path, body and JSON as in the grab, and no Redis.
    Session,
}

impl Ceiling {
    /// For the report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Canned => "A0 canned answer",
            Self::Empty => "A1 empty route",
            Self::Session => "A2 session and JSON, no Redis",
        }
    }

    /// Its name on the command line.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Canned => "canned",
            Self::Empty => "empty",
            Self::Session => "session",
        }
    }
}

/// Serves a ceiling until killed. Only the last needs an engine.
pub(crate) async fn serve(ceiling: Ceiling, listen: SocketAddr, redis: &str, database: &str) -> Result<()> {
    let listener = TcpListener::bind(listen).await?;
    match ceiling {
        Ceiling::Canned => canned(listener).await,
        Ceiling::Empty => {
            web(
                listener,
                Router::new().route("/empty", post(|| async { StatusCode::ACCEPTED })),
            )
            .await
        }
        Ceiling::Session => {
            let settings = EngineSettings::new(redis, database, "ceiling");
            let engine = Engine::start(settings, Arc::new(SystemClock), &mut Registry::default()).await?;
            let grab = Router::new().route("/api/v1/vouchers/{id}/grab", post(grab));
            web(listener, grab.with_state(engine)).await
        }
    }
}

/// Answers every read that ends a request's head; requests of the generator have no body and come in one piece.
async fn canned(listener: TcpListener) -> Result<()> {
    const ANSWER: &[u8] = b"HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\n{}";
    const HEALTHY: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
        let mut inbox = [0; 4096];
        loop {
            match stream.read(&mut inbox).await? {
                0 => return Ok(()),
                n if inbox[..n].starts_with(b"GET") => return stream.write_all(HEALTHY).await,
                n if inbox[..n].ends_with(b"\r\n\r\n") => stream.write_all(ANSWER).await?,
                _ => {}
            }
        }
    }
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(answer(stream));
    }
}

async fn web(listener: TcpListener, router: Router) -> Result<()> {
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = router.route("/healthz", get(|| async { "alive" }));
    Ok(axum::serve(listener, router).await?)
}

#[derive(Serialize)]
struct Queued {
    outcome: &'static str,
    order_id: OrderId,
}

/// What the grab does around the engine's answer, in the plainest words.
async fn grab(
    State(engine): State<Engine>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let cookie = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
    let token = cookie.and_then(|line| line.split(';').find_map(|pair| pair.trim().strip_prefix("sid=")));
    let user = match token {
        Some(token) => engine.session(token).await.ok().flatten(),
        None => None,
    };
    let (Some(user), Ok(_)) = (user, id.parse::<VoucherId>()) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    if !body.is_empty() && serde_json::from_slice::<serde_json::Value>(&body).is_err() {
        return StatusCode::BAD_REQUEST.into_response();
    }
    // An id as long as real ones are.
    match OrderId::new((1 << 56) | user.get()) {
        Ok(order_id) => {
            let outcome = "queued";
            (StatusCode::ACCEPTED, Json(Queued { outcome, order_id })).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
