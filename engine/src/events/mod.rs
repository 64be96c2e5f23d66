//! What browsers hear: stock as state, read once a process a tick; orders as events, told once a process.

mod board;
mod orders;

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

pub use board::{Board, BoardSale};
pub use orders::LiveOrder;

pub(crate) use board::BoardKeeper;
pub(crate) use orders::{OrderHub, hear_news};

/// What one listener hears.
pub struct Live {
    /// The sales, whenever something about them has changed.
    pub board: watch::Receiver<Arc<Board>>,
    /// The listener's own orders; `None` for a stranger. A closed channel means that the listener was too slow, and
    /// must read the state again.
    pub orders: Option<mpsc::Receiver<LiveOrder>>,
}
