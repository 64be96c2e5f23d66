//! Order events: one subscription a process, spread to the owners' listeners.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::{OrderEvent, UserId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    accounts::Accounts,
    catalogue::Catalogue,
    kv::{Kv, News, TokenHash},
    locks::Locks,
    metrics::Metrics,
};

/// Events that a listener may leave unread. More, and it is cut off: it reads the state again when it comes back (R59).
const BACKLOG: usize = 32;
/// A user's listeners share a shard of the map with about this fraction of the others.
const SHARDS: usize = 64;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What the owner of an order is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveOrder {
    /// This order changed.
    Changed(OrderEvent),
    /// Something may have been missed: read the state again.
    Resync,
}

type Shard = Mutex<HashMap<UserId, Vec<mpsc::Sender<LiveOrder>>>>;

/// Spreads order events.
pub(crate) struct OrderHub {
    shards: Vec<Shard>,
}

impl OrderHub {
    pub(crate) fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
        }
    }

    fn shard(&self, user: UserId) -> &Shard {
        let place = usize::try_from(user.get()).unwrap_or(0) % SHARDS;
        &self.shards[place]
    }

    /// Listens to a user's orders from now on. Read the state after this, or something falls between.
    pub(crate) fn subscribe(&self, user: UserId) -> mpsc::Receiver<LiveOrder> {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        let mut shard = self.shard(user).lock().unwrap_or_else(PoisonError::into_inner);
        let listeners = shard.entry(user).or_default();
        listeners.retain(|listener| !listener.is_closed());
        listeners.push(sender);
        receiver
    }

    /// Tells the owner. A listener that has left, or does not read, is dropped.
    pub(crate) fn tell(&self, user: UserId, what: LiveOrder) {
        let mut shard = self.shard(user).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listeners) = shard.get_mut(&user) {
            listeners.retain(|listener| listener.try_send(what).is_ok());
            if listeners.is_empty() {
                shard.remove(&user);
            }
        }
    }

    /// Tells everybody to read the state again, and forgets who has left.
    pub(crate) fn resync(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|_, listeners| {
                listeners.retain(|listener| listener.try_send(LiveOrder::Resync).is_ok());
                !listeners.is_empty()
            });
        }
    }
}

/// Listens to the news until stopped, and passes them on in this process.
pub(crate) async fn hear_news(
    kv: &Kv,
    hub: &Arc<OrderHub>,
    accounts: &Accounts,
    catalogue: &Catalogue,
    metrics: &Metrics,
    locks: &Locks,
    stop: &CancellationToken,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        match stop.run_until_cancelled(kv.listen()).await {
            None => return,
            Some(Ok(mut reader)) => {
                pause = FIRST_PAUSE;
                // Whatever was told while nobody listened is lost: the state tells it.
                hub.resync();
                loop {
                    match stop.run_until_cancelled(reader.next()).await {
                        None => return,
                        Some(None) => break,
                        Some(Some(news)) => pass_on(news, hub, accounts, catalogue, locks).await,
                    }
                }
            }
            Some(Err(error)) => {
                if metrics.trouble(
                    error
                        .trouble()
                        .map_or("unexpected_reply", crate::kv::Trouble::word),
                ) {
                    tracing::warn!(%error, "no news from other processes for now");
                }
            }
        }
        if stop
            .run_until_cancelled(tokio::time::sleep(pause))
            .await
            .is_none()
        {
            return;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn pass_on(news: News, hub: &OrderHub, accounts: &Accounts, catalogue: &Catalogue, locks: &Locks) {
    match news {
        News::Orders(events) => {
            for (user, event) in events {
                hub.tell(user, LiveOrder::Changed(event));
            }
        }
        News::Sales => {
            if let Err(error) = catalogue.renew().await {
                tracing::warn!(%error, "the catalogue could not be renewed; it will be within a second");
            }
        }
        News::Freed => locks.wake(),
        News::Logout(hash) => {
            if let Some(hash) = TokenHash::parse(&hash) {
                accounts.forget(&hash).await;
            }
        }
    }
}
