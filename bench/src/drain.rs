//! How the ledger follows: the backlog over time, and how long until it is gone.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Serialize;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::stand::{STREAM, Stand};

/// Between two looks at the stream.
const LOOK: Duration = Duration::from_millis(25);
/// After this long without any progress the consumer counts as stuck.
const STUCK: Duration = Duration::from_secs(30);

/// How a backlog went away.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Drain {
    /// Entries that waited when the last answer came.
    pub(crate) backlog: u64,
    /// Seconds from then until none did.
    pub(crate) seconds: f64,
    /// Orders settled a second while the crowd was there, and the machine busy with it.
    pub(crate) rate_under_load: f64,
    /// Orders settled a second once it had gone; `None` where too little was left to tell.
    pub(crate) rate_after: Option<f64>,
    /// Orders a second from the first attempt to the last row.
    pub(crate) rate_overall: f64,
    /// Seconds since the start, entries waiting.
    pub(crate) curve: Vec<(f64, u64)>,
}

impl Drain {
    /// From what was seen.
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    pub(crate) fn new(
        accepted: u64,
        backlog: u64,
        load_ended: Duration,
        drained: Duration,
        curve: Vec<(f64, u64)>,
    ) -> Self {
        let seconds = drained.saturating_sub(load_ended).as_secs_f64();
        Self {
            backlog,
            seconds,
            rate_under_load: accepted.saturating_sub(backlog) as f64 / load_ended.as_secs_f64(),
            rate_after: (backlog > 2000).then(|| backlog as f64 / seconds.max(1e-9)),
            rate_overall: accepted as f64 / drained.as_secs_f64(),
            curve,
        }
    }
}

/// Notes the backlog until told to stop.
pub(crate) struct Watch(JoinHandle<Result<Vec<(f64, u64)>>>);

impl Watch {
    /// Starts to look.
    pub(crate) async fn start(stand: &Stand, stop: &CancellationToken) -> Result<Self> {
        let mut con = stand.redis.connect().await;
        let stop = stop.clone();
        Ok(Self(tokio::spawn(async move {
            let began = Instant::now();
            let mut curve = Vec::new();
            loop {
                let waiting: u64 = redis::cmd("XLEN").arg(STREAM).query_async(&mut con).await?;
                curve.push((began.elapsed().as_secs_f64(), waiting));
                if stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_none() {
                    return Ok(curve);
                }
            }
        })))
    }

    /// What was seen, after the stop.
    pub(crate) async fn curve(self) -> Result<Vec<(f64, u64)>> {
        self.0.await?
    }
}

/// Waits until no entry is left.
pub(crate) async fn wait_drained(stand: &Stand) -> Result<()> {
    let (mut last, mut since) = (u64::MAX, Instant::now());
    loop {
        let waiting = stand.backlog().await?;
        if waiting == 0 {
            return Ok(());
        }
        if waiting < last {
            (last, since) = (waiting, Instant::now());
        } else if since.elapsed() > STUCK {
            bail!("{waiting} entries wait and none is settled: does a consumer run?");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
