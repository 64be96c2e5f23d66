//! JSON by the browser's own parser: what the server says is small, and deserializers for it would not be.

use std::str::FromStr;

use domain::{OrderEvent, SaleState, StockEvent};
use js_sys::{Array, JSON, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::model::OrderProps;

/// A value of a document.
#[derive(Debug, Clone)]
pub(crate) struct Json(JsValue);

impl Json {
    /// Reads a document.
    pub(super) fn parse(text: &str) -> Option<Self> {
        JSON::parse(text).ok().map(Self)
    }

    /// A field, if it is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<Self> {
        let value = Reflect::get(&self.0, &name.into()).ok()?;
        (!value.is_null() && !value.is_undefined()).then_some(Self(value))
    }

    /// The text itself.
    pub(crate) fn text(&self) -> Option<String> {
        self.0.as_string()
    }

    /// A field that is a word or an id.
    pub(crate) fn read<T: FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.text()?.parse().ok()
    }

    /// A field that is a number. Ids are none: they pass what a browser's numbers hold.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds and units are below 2^53"
    )]
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.get(name)?.0.as_f64().map(|number| number as i64)
    }

    /// A field's items.
    pub(super) fn items(&self, name: &str) -> Vec<Self> {
        let items = self.get(name).and_then(|items| items.0.dyn_into::<Array>().ok());
        items.map_or_else(Vec::new, |items| items.iter().map(Self).collect())
    }

    /// A stock event, or with `id` as the voucher's name a voucher.
    pub(super) fn stock(&self, id: &str) -> Option<StockEvent> {
        Some(StockEvent {
            voucher_id: self.read(id)?,
            stock: self.number("stock"),
            state: self.sale_state()?,
            held: self.get("held").is_some_and(|held| held.0.is_truthy()),
        })
    }

    fn sale_state(&self) -> Option<SaleState> {
        let word = self.get("state")?.text()?;
        [
            SaleState::Scheduled,
            SaleState::Live,
            SaleState::Paused,
            SaleState::Ended,
        ]
        .into_iter()
        .find(|state| state.word() == word)
    }

    /// An order event, or an order.
    pub(super) fn order(&self) -> Option<OrderEvent> {
        Some(OrderEvent {
            voucher_id: self.read("voucher_id")?,
            order_id: self.read("order_id")?,
            state: self.read("state")?,
            reason: self.read("reason"),
        })
    }
}

impl From<&OrderEvent> for OrderProps {
    fn from(event: &OrderEvent) -> Self {
        Self {
            order_id: event.order_id,
            state: event.state,
            reason: event.reason,
        }
    }
}
