//! The board: every known sale's stock and state, read once a tick while somebody looks.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use domain::{StockEvent, VoucherId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Clock, catalogue::Catalogue, kv::Kv, metrics::Metrics};

/// The sales at one moment.
#[derive(Debug, Default)]
pub struct Board {
    /// By voucher.
    pub sales: BTreeMap<VoucherId, BoardSale>,
}

/// A sale on the board. Its encoding is made by the first listener that needs it and shared by all others.
#[derive(Debug)]
pub struct BoardSale {
    /// Stock and state.
    pub event: StockEvent,
    encoded: OnceLock<Bytes>,
}

impl BoardSale {
    /// The event as `encode` writes it; every caller has to bring the same `encode`.
    pub fn encoded(&self, encode: impl FnOnce(&StockEvent) -> Bytes) -> Bytes {
        self.encoded.get_or_init(|| encode(&self.event)).clone()
    }
}

impl Board {
    fn shows_the_same_as(&self, other: &Self) -> bool {
        self.sales
            .values()
            .map(|sale| sale.event)
            .eq(other.sales.values().map(|sale| sale.event))
    }
}

/// Keeps the board.
pub(crate) struct BoardKeeper {
    kv: Kv,
    catalogue: Arc<Catalogue>,
    clock: Arc<dyn Clock>,
    metrics: Metrics,
    board: watch::Sender<Arc<Board>>,
    tick: Duration,
}

impl BoardKeeper {
    pub(crate) fn new(
        kv: Kv,
        catalogue: Arc<Catalogue>,
        clock: Arc<dyn Clock>,
        metrics: Metrics,
        tick: Duration,
    ) -> Self {
        Self {
            kv,
            catalogue,
            clock,
            metrics,
            board: watch::Sender::default(),
            tick,
        }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Board>> {
        self.board.subscribe()
    }

    /// Works until stopped. Rests while nobody looks.
    pub(crate) async fn run(&self, stop: &CancellationToken) {
        let mut ticks = tokio::time::interval(self.tick);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if self.board.receiver_count() > 0 {
                self.read().await;
            }
        }
    }

    /// Reads all known sales in one round trip and passes the board on if it differs.
    pub(crate) async fn read(&self) {
        let sales = self.catalogue.all();
        let ids: Vec<VoucherId> = sales.iter().map(|sale| sale.id).collect();
        let (now, views) = match self.kv.views(&ids).await {
            Ok((now, views)) => (now, views),
            Err(error) => {
                let _ = self.metrics.trouble(
                    error
                        .trouble()
                        .map_or("unexpected_reply", crate::kv::Trouble::word),
                );
                (self.clock.now(), ids.iter().map(|_| None).collect())
            }
        };
        let sales = sales.iter().zip(views).map(|(sale, view)| {
            let state = match &view {
                Some(view) => view.window.state(view.control, now),
                None => sale.window.state(sale.control, now),
            };
            let stock = view.map(|view| view.stock);
            let held = stock.is_some_and(|left| sale.all_held(left));
            let event = StockEvent {
                voucher_id: sale.id,
                stock,
                state,
                held,
            };
            (
                sale.id,
                BoardSale {
                    event,
                    encoded: OnceLock::new(),
                },
            )
        });
        let board = Board {
            sales: sales.collect(),
        };
        self.board.send_if_modified(|held| {
            let differs = !held.shows_the_same_as(&board);
            if differs {
                *held = Arc::new(board);
            }
            differs
        });
    }
}
