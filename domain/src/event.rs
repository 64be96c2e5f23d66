//! What the browser hears over SSE: the event's name and its JSON.

use serde::{Deserialize, Serialize};

use crate::{FailReason, OrderId, OrderState, SaleState, VoucherId};

/// `stock`: what is left, as Redis had it a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StockEvent {
    /// Whose stock.
    pub voucher_id: VoucherId,
    /// Units left; absent while Redis does not hold the sale.
    pub stock: Option<i64>,
    /// The sale's state by Redis' clock.
    pub state: SaleState,
    /// Nothing is left, and not every order is written yet: a unit may come back. Left out when it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// `order`: where one of your orders stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderEvent {
    /// What was bought.
    pub voucher_id: VoucherId,
    /// Which order.
    pub order_id: OrderId,
    /// Where it stands.
    pub state: OrderState,
    /// Why it failed; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<FailReason>,
}

/// One event of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveEvent {
    /// What is left.
    Stock(StockEvent),
    /// Where an order stands.
    Order(OrderEvent),
    /// The server's clock, in Unix milliseconds.
    Clock {
        /// Unix milliseconds.
        now_ms: i64,
    },
    /// The server goes away; come back after about this many milliseconds.
    Bye {
        /// Milliseconds.
        retry_ms: u64,
    },
}
