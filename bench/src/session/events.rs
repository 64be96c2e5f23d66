//! What browsers hear: from accepted to confirmed, and ten thousand streams at once.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use domain::VoucherId;
use serde::Serialize;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

use crate::{
    drain::wait_drained,
    load::{Amount, Connection, Pace, Person, Plan, Quantiles, Verdict, histogram, run},
    loader::say,
    scenario::Shop,
    stand::{our_target, proc},
};

/// Streams at once.
const STREAMS: usize = 10_000;
/// Streams opened at the same time.
const OPENING: usize = 200;
/// An event that does not come within this time is lost.
const PATIENCE: Duration = Duration::from_secs(20);

/// From accepted to confirmed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Confirmations {
    /// Grabs a second beside it.
    pub(crate) per_second: f64,
    /// Shoppers that listened.
    pub(crate) heard: usize,
    /// Milliseconds from the answer to the event.
    pub(crate) latency: Quantiles,
}

/// Ten thousand streams.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Streams {
    /// How many stood.
    pub(crate) open: usize,
    /// Resident memory of the server for each, in KiB.
    pub(crate) kib_each: f64,
    /// Milliseconds from a change to its event, of all streams.
    pub(crate) change: Quantiles,
    /// Milliseconds of the server's processor for one change.
    pub(crate) cpu_ms_a_change: f64,
}

/// An open event stream.
struct Listening {
    stream: TcpStream,
    inbox: Vec<u8>,
}

impl Listening {
    async fn open(address: SocketAddr, voucher: VoucherId, person: Option<&Person>) -> Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        let cookie = person.map_or_else(String::new, |person| format!("cookie: sid={}\r\n", person.token));
        let request =
            format!("GET /api/v1/events?voucher={voucher} HTTP/1.1\r\nhost: {address}\r\n{cookie}\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut listening = Self {
            stream,
            inbox: Vec::with_capacity(512),
        };
        // The state comes first: nothing is missed from here on.
        listening.until(b"event: stock").await?;
        listening.inbox.clear();
        Ok(listening)
    }

    /// Reads until `text` has come.
    async fn until(&mut self, text: &[u8]) -> Result<Instant> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.inbox, text) {
                self.inbox.drain(..at + text.len());
                return Ok(Instant::now());
            }
            if self.stream.read_buf(&mut self.inbox).await? == 0 {
                bail!("the stream ended");
            }
        }
    }
}

/// Some shoppers listen and grab while a crowd comes at a constant rate.
pub(super) async fn confirmations(shop: &Shop<'_>, per_second: f64, quick: bool) -> Result<Confirmations> {
    let time = if quick { 2.0 } else { 5.0 };
    let listeners = if quick { 200 } else { 500 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive and small"
    )]
    let crowd = ((per_second * time) as usize).min(shop.people.len() - listeners);
    let sale = shop.stand.sale((crowd + listeners) as u64).await?;
    let target = our_target(shop.server.address, sale)?;
    let (crowd_people, watching) = shop.people[..crowd + listeners].split_at(crowd);
    shop.warm(&shop.people, Amount::Attempts((crowd + listeners) as u64))
        .await?;
    let mut tasks = JoinSet::new();
    for (place, person) in watching.iter().cloned().enumerate() {
        let mut listening = Listening::open(shop.server.address, sale, Some(&person)).await?;
        let target = target.clone();
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let wait = Duration::from_secs_f64(0.2 + (time - 0.4) * place as f64 / listeners as f64);
        tasks.spawn(async move {
            tokio::time::sleep(wait).await;
            let mut connection = Connection::new(target.address);
            target.render(&person, 0, &mut connection.request);
            let judged = connection
                .exchange(|status, body| target.judge(status, body))
                .await;
            let accepted = Instant::now();
            ensure!(
                matches!(judged, Ok(Verdict::Accepted)),
                "a listener's grab: {judged:?}"
            );
            let heard = tokio::time::timeout(PATIENCE, listening.until(b"\"confirmed\"")).await;
            let heard = heard.context("a confirmation did not come")??;
            anyhow::Ok(heard.saturating_duration_since(accepted))
        });
    }
    let mut plan = Plan::closed(target, crowd_people.into(), Amount::Attempts(crowd as u64));
    plan.pace = Pace::Open { per_second };
    let beside = run(plan).await?;
    ensure!(
        beside.troubles().is_empty(),
        "beside the listeners: {}",
        beside.troubles()
    );
    let mut latency = histogram();
    while let Some(took) = tasks.join_next().await {
        latency.saturating_record(u64::try_from(took??.as_micros())?.max(1));
    }
    wait_drained(shop.stand).await?;
    let found = Confirmations {
        per_second,
        heard: listeners,
        latency: Quantiles::of(&latency),
    };
    say(&format!("{found:?}"));
    Ok(found)
}

/// Opens the streams, measures the server's memory, then lets the stock change.
pub(super) async fn streams(shop: &Shop<'_>) -> Result<Streams> {
    const CHANGES: u32 = 5;
    let sale = shop.stand.sale(1000).await?;
    let (address, server) = (shop.server.address, shop.server.pid());
    shop.warm(&shop.people, Amount::Attempts(u64::from(CHANGES)))
        .await?;
    let before = proc::resident(server)?;
    let mut open = Vec::with_capacity(STREAMS);
    while open.len() < STREAMS {
        let batch = (0..OPENING.min(STREAMS - open.len())).map(|_| Listening::open(address, sale, None));
        open.extend(futures_util::future::try_join_all(batch).await?);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let after = proc::resident(server)?;
    let (mut latency, cpu_before) = (histogram(), proc::cpu(server)?);
    let target = our_target(address, sale)?;
    for change in 0..CHANGES {
        let (people, first) = (shop.people.clone(), usize::try_from(change)?);
        let mut tasks = JoinSet::new();
        for mut listening in open.drain(..) {
            tasks.spawn(async move {
                let heard = tokio::time::timeout(PATIENCE, listening.until(b"event: stock")).await;
                heard.context("a stream did not hear of the change")??;
                anyhow::Ok((listening, Instant::now()))
            });
        }
        let mut connection = Connection::new(address);
        target.render(&people[first], 0, &mut connection.request);
        let judged = connection
            .exchange(|status, body| target.judge(status, body))
            .await;
        let changed = Instant::now();
        ensure!(matches!(judged, Ok(Verdict::Accepted)), "the change: {judged:?}");
        while let Some(heard) = tasks.join_next().await {
            let (listening, at) = heard??;
            latency
                .saturating_record(u64::try_from(at.saturating_duration_since(changed).as_micros())?.max(1));
            open.push(listening);
        }
    }
    let cpu = proc::cpu(server)?.saturating_sub(cpu_before).as_secs_f64() * 1000.0;
    #[expect(clippy::cast_precision_loss, reason = "memory in KiB")]
    let kib_each = after.saturating_sub(before) as f64 / 1024.0 / STREAMS as f64;
    let found = Streams {
        open: open.len(),
        kib_each,
        change: Quantiles::of(&latency),
        cpu_ms_a_change: cpu / f64::from(CHANGES),
    };
    say(&format!("{found:?}"));
    drop(open);
    Ok(found)
}
