//! Connections: how they are accepted, how long they may dawdle, how they end. Our own loop, because `axum::serve` has
//! no limit on the time in which headers must come, nor on the number of connections.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use axum::{Router, body::Body, extract::ConnectInfo};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service;

use crate::places::Places;

/// Connections that may wait to be accepted: all of a crowd that comes in one tenth of a second (R67).
const BACKLOG: i32 = 4096;
/// The longest head of a request.
const HEAD: usize = 32 * 1024;
/// A peer that has gone away without a word is noticed after this.
const SILENCE: Duration = Duration::from_mins(1);
/// So long may sent bytes stay unacknowledged: a stalled reader of a stream is cut off.
const UNREAD: Duration = Duration::from_secs(30);
/// After a failed accept (no file handles, for example) the next is tried after this.
const PAUSE: Duration = Duration::from_millis(50);
/// File handles that are not connections: stores, files, the rest of the process.
const OTHER_FILES: u64 = 256;

/// Listens. What is set here, accepted connections inherit.
pub(crate) fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let open = || -> std::io::Result<TcpListener> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_nonblocking(true)?;
        // Small answers must not wait for each other.
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(SILENCE).with_interval(SILENCE / 6))?;
        socket.set_tcp_user_timeout(Some(UNREAD))?;
        socket.bind(&address.into())?;
        socket.listen(BACKLOG)?;
        TcpListener::from_std(socket.into())
    };
    open().with_context(|| format!("can't listen on {address}: is another server running there?"))
}

/// Serves until stopped, then lets open requests end. Ends when the last connection has. A head must have come within
/// `header_timeout`; it is also how long an idle connection is kept.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    places: Arc<Places>,
    header_timeout: Duration,
    stop: CancellationToken,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(HEAD)
        .pipeline_flush(true);
    let (http, connections) = (Arc::new(http), TaskTracker::new());
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // One that left before it was accepted is its own affair.
                if error.kind() != std::io::ErrorKind::ConnectionAborted {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(PAUSE).await;
                }
                continue;
            }
        };
        let Some(place) = places.take(peer.ip()) else {
            // A reset, not a wait for a goodbye: under a flood nothing is to linger.
            let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            continue;
        };
        let (http, router, stop) = (http.clone(), router.clone(), stop.clone());
        connections.spawn(async move {
            let _place = place;
            converse(&http, stream, peer, router, &stop).await;
        });
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

async fn converse(
    http: &http1::Builder,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    stop: &CancellationToken,
) {
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let answer = router.clone().call(request.map(Body::new));
        async move { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) }
    });
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), answer));
    // Errors are the peer's: gone away, not HTTP, too slow.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stop.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

/// Raises the process's limit on open files as far as it may; what is left for connections.
pub(crate) fn file_handles() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let now = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(_) => limit.current,
    };
    let files = now.map_or(usize::MAX, |files| {
        usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX)
    });
    files.max(64)
}
