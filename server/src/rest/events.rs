//! Server-sent events: one stream a tab. The state first, then changes, then an honest goodbye.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{Query, State},
    http::{HeaderValue, header},
    response::Response,
};
use domain::{OrderEvent, StockEvent, UserId, VoucherId};
use engine::{Engine, EngineError, Live, LiveOrder};
use futures_util::{Stream, stream};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{auth::Visitor, problem::Problem, state::AppState};

/// Proxies cut a connection that is silent for long.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// After a goodbye tabs come back spread over this many milliseconds.
const RETURN_SPREAD_MS: u32 = 4000;

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wish {
    /// Only this voucher; else all, and all one's orders.
    voucher: Option<String>,
}

#[derive(Serialize)]
struct Clock {
    now_ms: i64,
}

#[derive(Serialize)]
struct Bye {
    retry_ms: u32,
}

/// Stock, orders and the clock, as they change.
#[utoipa::path(get, path = "/api/v1/events", params(Wish), responses(
    (status = 200, description = "Events: stock, order, clock, bye", content_type = "text/event-stream", body = String),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn listen(
    State(state): State<AppState>,
    Visitor(user): Visitor,
    Query(wish): Query<Wish>,
) -> Result<Response, Problem> {
    let voucher: Option<VoucherId> = match wish.voucher.as_deref() {
        Some(text) => Some(text.parse().map_err(|_| Problem::not_found())?),
        None => None,
    };
    // Listen first, read the state after: nothing falls between (R58).
    let live = state.engine.listen(user);
    let mut listener = Listener {
        engine: state.engine.clone(),
        live,
        user,
        voucher,
        ready: VecDeque::new(),
        told: None,
        stop: state.stop.clone(),
        over: false,
    };
    if !listener.read_state().await? {
        return Err(Problem::not_found());
    }
    let frames = stream::unfold(listener, |mut listener| async move {
        let frame = listener.next().await?;
        Some((Ok::<_, Infallible>(frame), listener))
    });
    Ok(events(frames))
}

/// Frames as an answer that goes on.
pub(super) fn events(frames: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    // Without it nginx holds events back (R55).
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Listener {
    engine: Engine,
    live: Live,
    user: Option<UserId>,
    voucher: Option<VoucherId>,
    /// Frames to send before anything new is awaited.
    ready: VecDeque<Bytes>,
    /// What this tab was told last.
    told: Option<StockEvent>,
    stop: CancellationToken,
    over: bool,
}

impl Listener {
    /// Queues clock, stock and orders as they stand. `false`: there is no such voucher.
    async fn read_state(&mut self) -> Result<bool, EngineError> {
        self.ready.push_back(frame(
            "clock",
            &Clock {
                now_ms: self.engine.now().millis(),
            },
        ));
        if let Some(id) = self.voucher {
            let Some(voucher) = self.engine.voucher(id).await? else {
                return Ok(false);
            };
            let mut event = StockEvent {
                voucher_id: id,
                stock: Some(voucher.stock),
                state: voucher.state,
                held: voucher.held,
            };
            // The voucher falls back on the ledger's figure; the board says when Redis does not hold the sale.
            // Not marked as seen: a board that has changed since is told after this.
            if let Some(sale) = self.live.board.borrow().sales.get(&id) {
                event.stock = event.stock.filter(|_| sale.event.stock.is_some());
            }
            self.told = Some(event);
            self.ready.push_back(frame("stock", &event));
        } else {
            let board = self.live.board.borrow_and_update().clone();
            self.ready
                .extend(board.sales.values().map(|sale| sale.encoded(stock_frame)));
        }
        self.read_orders().await?;
        Ok(true)
    }

    async fn read_orders(&mut self) -> Result<(), EngineError> {
        let Some(user) = self.user else { return Ok(()) };
        let orders = match self.voucher {
            Some(id) => self.engine.order_for(user, id).await?.into_iter().collect(),
            None => self.engine.orders(user).await?,
        };
        for order in orders {
            let event = OrderEvent {
                voucher_id: order.voucher_id,
                order_id: order.order_id,
                state: order.state,
                reason: order.reason,
            };
            self.ready.push_back(frame("order", &event));
        }
        Ok(())
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            if self.over {
                return None;
            }
            let orders = async {
                match self.live.orders.as_mut() {
                    Some(orders) => orders.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.stop.cancelled() => {
                    self.over = true;
                    return Some(goodbye());
                }
                changed = self.live.board.changed() => match changed {
                    Ok(()) => self.tell_stock(),
                    Err(_) => self.over = true,
                },
                order = orders => match order {
                    Some(LiveOrder::Changed(event)) => {
                        if self.voucher.is_none_or(|id| id == event.voucher_id) {
                            self.ready.push_back(frame("order", &event));
                        }
                    }
                    Some(LiveOrder::Resync) => {
                        // Boxed, since it is rare and large, and ten thousand tabs would each hold room for it.
                        if Box::pin(self.read_orders()).await.is_err() {
                            self.over = true;
                        }
                    }
                    // Too slow, cut off: the browser comes back and reads the state (R59).
                    None => self.over = true,
                },
                () = tokio::time::sleep(KEEP_ALIVE) => {
                    return Some(frame("clock", &Clock { now_ms: self.engine.now().millis() }));
                }
            }
        }
    }

    fn tell_stock(&mut self) {
        let board = self.live.board.borrow_and_update().clone();
        match self.voucher {
            Some(id) => {
                if let Some(sale) = board.sales.get(&id)
                    && self.told != Some(sale.event)
                {
                    self.told = Some(sale.event);
                    self.ready.push_back(sale.encoded(stock_frame));
                }
            }
            None => self
                .ready
                .extend(board.sales.values().map(|sale| sale.encoded(stock_frame))),
        }
    }
}

fn stock_frame(event: &StockEvent) -> Bytes {
    frame("stock", event)
}

/// The last frame of a server that goes away.
pub(super) fn goodbye() -> Bytes {
    let retry_ms = 500 + engine::chance().unwrap_or(0) % RETURN_SPREAD_MS;
    // `retry:` steers the browser's own reconnect; the event tells our script.
    let text = format!("retry: {retry_ms}\n");
    [Bytes::from(text), frame("bye", &Bye { retry_ms })]
        .concat()
        .into()
}

/// One event. JSON has no raw line breaks, so one `data:` line holds it.
pub(super) fn frame(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r46_an_event_carries_ids_as_text() {
        let event = OrderEvent {
            voucher_id: VoucherId::new(10).unwrap(),
            order_id: domain::OrderId::new(9_007_199_254_740_993).unwrap(),
            state: domain::OrderState::Confirmed,
            reason: None,
        };
        let text = frame("order", &event);
        let wanted = "event: order\ndata: {\"voucher_id\":\"10\",\"order_id\":\"9007199254740993\",\"state\":\"confirmed\"}\n\n";
        assert_eq!(text, wanted);
    }
}
