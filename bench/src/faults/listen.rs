//! Tabs that listen to events, and come back when their stream ends.

use std::{ops::Range, sync::Arc, time::Duration};

use http_body_util::BodyExt;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::{
    crowd::Crowd,
    history::Sighting,
    http::{self, Call},
};

/// A tab waits this long before it comes back, and up to as much again.
const PAUSE: Duration = Duration::from_millis(100);

/// Open tabs; closed with this value.
pub(crate) struct Tabs {
    _tabs: JoinSet<()>,
    people: Range<usize>,
}

impl Tabs {
    /// Opens a tab for each of these people, on any of these servers.
    pub(crate) fn open(crowd: &Arc<Crowd>, ports: &[u16], people: Range<usize>, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut tabs = JoinSet::new();
        for person in people.clone() {
            tabs.spawn(tab(crowd.clone(), ports.to_vec(), person, random.fork()));
        }
        Self { _tabs: tabs, people }
    }

    /// Which of the people were told an order and not yet how it ended.
    pub(crate) fn in_the_dark(&self, crowd: &Crowd) -> Vec<usize> {
        let (attempts, sightings) = (crowd.history.attempts(), crowd.history.sightings());
        let waits = |person: &usize| {
            let order = attempts
                .iter()
                .rev()
                .filter(|a| a.person == *person)
                .find_map(|a| a.outcome.order());
            order.is_some_and(|order| !sightings.iter().any(|s| s.order == order && s.state != "queued"))
        };
        self.people.clone().filter(waits).collect()
    }
}

async fn tab(crowd: Arc<Crowd>, ports: Vec<u16>, person: usize, mut random: fastrand::Rng) {
    loop {
        let port = ports[random.usize(..ports.len())];
        // Whatever ended the stream, the tab comes back and is told the state first.
        let _ = stream(&crowd, port, person).await;
        tokio::time::sleep(PAUSE.mul_f64(1.0 + random.f64())).await;
    }
}

async fn stream(crowd: &Crowd, port: u16, person: usize) -> anyhow::Result<()> {
    let opened = crowd.history.now();
    let mut sender = http::connect(port)
        .await
        .map_err(|why| anyhow::anyhow!(why.word()))?;
    let token = crowd.people()[person].token();
    let path = format!("/api/v1/events?voucher={}", crowd.voucher());
    let Some(request) = http::request(&Call::get(&path).by(&token)) else {
        return Ok(());
    };
    let mut body = sender.send_request(request).await?.into_body();
    let mut text = String::new();
    while let Some(frame) = body.frame().await {
        if let Some(data) = frame?.data_ref() {
            text += &String::from_utf8_lossy(data);
        }
        while let Some((event, rest)) = text.split_once("\n\n") {
            note(crowd, person, opened, event);
            text = rest.to_owned();
        }
    }
    Ok(())
}

fn note(crowd: &Crowd, person: usize, opened: u64, event: &str) {
    if !event.lines().any(|line| line == "event: order") {
        return;
    }
    let data = event.lines().find_map(|line| line.strip_prefix("data:"));
    let order: Option<Value> = data.and_then(|data| serde_json::from_str(data.trim()).ok());
    let text = |name: &str| order.as_ref()?.get(name)?.as_str().map(str::to_owned);
    if let (Some(id), Some(state)) = (text("order_id").and_then(|id| id.parse().ok()), text("state")) {
        // A state may have been read when the stream was opened and be told much later.
        crowd.history.saw(Sighting {
            person,
            order: id,
            state,
            sent: opened,
            told: crowd.history.now(),
        });
    }
}
