//! A small proxy in front of a store, whose weather can be changed at any time. Bytes are held back or the connection is
//! cut, but never lost from the middle of a connection: that is what TCP makes of a bad network.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::{AbortHandle, JoinSet},
};

/// What passes is cut in pieces of at most this.
const PIECE: usize = 16 * 1024;

/// The state of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// All passes.
    Clear,
    /// Connections are closed, new ones at once.
    Cut,
    /// Nothing passes either way; connections stay, and new ones are taken.
    BlackHole,
    /// Calls pass, answers don't.
    Deaf,
    /// Late, unevenly, and not much at once.
    Bad {
        /// Each piece waits this long.
        delay: Duration,
        /// And up to this much longer.
        jitter: Duration,
        /// One piece in so many waits for a retransmission, as after a lost packet; 0: none.
        lost_one_in: u32,
        /// Bytes a second each way; 0: as many as come.
        width: u32,
    },
}

/// A running proxy. It ends with this value.
pub(crate) struct Proxy {
    port: u16,
    weather: watch::Sender<Weather>,
    target: watch::Sender<PathBuf>,
    task: AbortHandle,
}

impl Proxy {
    /// Listens on a port of the loopback and passes everything on to this socket.
    pub(crate) async fn open(target: PathBuf) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("no port for a proxy")?;
        let port = listener.local_addr()?.port();
        let (weather, seen) = watch::channel(Weather::Clear);
        let (target, aimed) = watch::channel(target);
        let task = tokio::spawn(accept(listener, aimed, seen)).abort_handle();
        Ok(Self {
            port,
            weather,
            target,
            task,
        })
    }

    /// Where it listens.
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// From now on new connections go to this socket, and the open ones are cut.
    pub(crate) fn aim_at(&self, target: PathBuf) {
        self.target.send_replace(target);
    }

    /// Changes the weather, for open connections too.
    pub(crate) fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, target: watch::Receiver<PathBuf>, weather: watch::Receiver<Weather>) {
    // Ends its connections when it is dropped.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok((near, _)) = listener.accept().await else {
            continue;
        };
        let _ = near.set_nodelay(true);
        if *weather.borrow() == Weather::Cut {
            continue;
        }
        connections.spawn(connection(near, target.clone(), weather.clone()));
    }
}

async fn connection(
    near: TcpStream,
    mut target: watch::Receiver<PathBuf>,
    mut weather: watch::Receiver<Weather>,
) {
    let aimed = target.borrow_and_update().clone();
    let Ok(far) = UnixStream::connect(aimed).await else {
        return;
    };
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    let calls = pump(near_read, far_write, weather.clone(), false);
    let answers = pump(far_read, near_write, weather.clone(), true);
    tokio::select! {
        () = calls => {}
        () = answers => {}
        _ = weather.wait_for(|weather| *weather == Weather::Cut) => {}
        _ = target.changed() => {}
    }
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut weather: watch::Receiver<Weather>,
    is_answer: bool,
) {
    let mut piece = vec![0; PIECE];
    while let Ok(n @ 1..) = from.read(&mut piece).await {
        let stopped = |weather: &Weather| match weather {
            Weather::BlackHole => true,
            Weather::Deaf => is_answer,
            _ => false,
        };
        let Ok(now) = weather
            .wait_for(|weather| !stopped(weather))
            .await
            .map(|now| *now)
        else {
            return;
        };
        if let Weather::Bad {
            delay,
            jitter,
            lost_one_in,
            width,
        } = now
        {
            tokio::time::sleep(lateness(n, delay, jitter, lost_one_in, width)).await;
        }
        if to.write_all(&piece[..n]).await.is_err() {
            return;
        }
    }
}

fn lateness(bytes: usize, delay: Duration, jitter: Duration, lost_one_in: u32, width: u32) -> Duration {
    /// What the kernel waits at least before it sends again.
    const RETRANSMISSION: Duration = Duration::from_millis(200);
    let mut late = delay + jitter.mul_f64(fastrand::f64());
    if lost_one_in > 0 && fastrand::u32(..lost_one_in) == 0 {
        late += RETRANSMISSION;
    }
    if width > 0 {
        late += Duration::from_secs(1) * u32::try_from(bytes).unwrap_or(u32::MAX) / width;
    }
    late
}
