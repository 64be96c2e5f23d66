//! What Redis holds of sales, for pages and events.

use domain::{Control, OrderId, SaleWindow, Timestamp, UserId, VoucherId};
use redis::AsyncCommands;

use super::{Kv, KvError};

/// A sale as Redis holds it at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaleView {
    /// Units left.
    pub(crate) stock: i64,
    /// Units published, with later changes.
    pub(crate) initial: i64,
    pub(crate) window: SaleWindow,
    pub(crate) control: Control,
    pub(crate) epoch: i64,
    /// The claims are there, of the same epoch.
    pub(crate) whole: bool,
    /// The run id of the Redis process that loaded it. Another one since means a restart, and perhaps a loss.
    pub(crate) run: String,
}

type RawSale = (
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<String>,
);

fn view(
    stock: Option<i64>,
    claims: Option<i64>,
    (begin, end, state, epoch, initial, run): RawSale,
) -> Option<SaleView> {
    Some(SaleView {
        stock: stock?,
        initial: initial?,
        window: SaleWindow {
            begins_at: Timestamp::from_millis(begin?),
            ends_at: Timestamp::from_millis(end?),
        },
        control: state?.parse().ok()?,
        epoch: epoch?,
        whole: claims == epoch,
        run: run?,
    })
}

/// Tells whether anything about a sale's units has moved: every script that moves one counts up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SaleMark {
    pub(crate) epoch: i64,
    moves: i64,
}

/// A sale's mark and what it was like then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkedSale {
    pub(crate) mark: SaleMark,
    pub(crate) now: Timestamp,
    pub(crate) stock: i64,
    pub(crate) claims: i64,
    pub(crate) window: SaleWindow,
    pub(crate) control: Control,
}

impl Kv {
    /// A sale's mark, in one step with what it stands for. `None`: not loaded.
    pub(crate) async fn mark(&self, voucher: VoucherId) -> Result<Option<MarkedSale>, KvError> {
        type Sale = (Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<String>);
        let ((seconds, micros), stock, claims, sale): ((i64, i64), Option<i64>, i64, Sale) = redis::pipe()
            .atomic()
            .cmd("TIME")
            .get(self.keys.stock(voucher))
            .hlen(self.keys.claims(voucher))
            .cmd("HMGET")
            .arg(self.keys.sale(voucher))
            .arg(&["epoch", "moves", "begin", "end", "state"])
            .query_async(&mut self.calm.clone())
            .await?;
        let (Some(stock), (Some(epoch), moves, Some(begin), Some(end), Some(state))) = (stock, sale) else {
            return Ok(None);
        };
        let Ok(control) = state.parse() else {
            return Ok(None);
        };
        Ok(Some(MarkedSale {
            mark: SaleMark {
                epoch,
                moves: moves.unwrap_or(0),
            },
            now: Timestamp::from_millis(seconds * 1000 + micros / 1000),
            stock,
            claims,
            window: SaleWindow {
                begins_at: Timestamp::from_millis(begin),
                ends_at: Timestamp::from_millis(end),
            },
            control,
        }))
    }

    /// Names the running Redis process: another name later means that it was restarted, or replaced.
    pub(crate) async fn run_id(&self) -> Result<String, KvError> {
        let info: redis::InfoDict = redis::cmd("INFO")
            .arg("server")
            .query_async(&mut self.calm.clone())
            .await?;
        info.get("run_id")
            .ok_or_else(|| KvError::Unexpected("INFO tells no run_id".into()))
    }

    /// The sale's clock and the sales, in one round trip. `None` for one that is not loaded.
    pub(crate) async fn views(
        &self,
        vouchers: &[VoucherId],
    ) -> Result<(Timestamp, Vec<Option<SaleView>>), KvError> {
        let mut pipe = redis::pipe();
        pipe.cmd("TIME");
        for voucher in vouchers {
            pipe.get(self.keys.stock(*voucher));
            pipe.hget(self.keys.claims(*voucher), 0);
            pipe.cmd("HMGET")
                .arg(self.keys.sale(*voucher))
                .arg(&["begin", "end", "state", "epoch", "initial", "run"]);
        }
        let mut replies: Vec<redis::Value> = pipe.query_async(&mut self.calm.clone()).await?;
        let views = replies.split_off(1.min(replies.len()));
        let (seconds, micros): (i64, i64) =
            redis::from_redis_value(replies.pop().unwrap_or(redis::Value::Nil))?;
        let now = Timestamp::from_millis(seconds * 1000 + micros / 1000);
        let mut answer = Vec::with_capacity(vouchers.len());
        let mut views = views.into_iter();
        while let (Some(stock), Some(claims), Some(sale)) = (views.next(), views.next(), views.next()) {
            let (stock, claims) = (redis::from_redis_value(stock)?, redis::from_redis_value(claims)?);
            answer.push(view(stock, claims, redis::from_redis_value(sale)?));
        }
        Ok((now, answer))
    }

    /// The order id that `user` holds a claim with.
    pub(crate) async fn claim(&self, voucher: VoucherId, user: UserId) -> Result<Option<OrderId>, KvError> {
        let id: Option<i64> = self
            .calm
            .clone()
            .hget(self.keys.claims(voucher), user.get())
            .await?;
        Ok(id.and_then(|raw| OrderId::new(raw).ok()))
    }

    /// The claims that `user` holds on these vouchers, in one round trip.
    pub(crate) async fn claims_of(
        &self,
        user: UserId,
        vouchers: &[VoucherId],
    ) -> Result<Vec<(VoucherId, OrderId)>, KvError> {
        if vouchers.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipe = redis::pipe();
        for voucher in vouchers {
            pipe.hget(self.keys.claims(*voucher), user.get());
        }
        let ids: Vec<Option<i64>> = pipe.query_async(&mut self.calm.clone()).await?;
        let held = vouchers.iter().zip(ids);
        Ok(held
            .filter_map(|(voucher, id)| Some((*voucher, OrderId::new(id?).ok()?)))
            .collect())
    }

    /// How many users hold a claim.
    pub(crate) async fn claim_count(&self, voucher: VoucherId) -> Result<i64, KvError> {
        Ok(self.claim_counts(&[voucher]).await?.pop().unwrap_or_default())
    }

    /// How many users hold a claim on each of these, in one round trip.
    pub(crate) async fn claim_counts(&self, vouchers: &[VoucherId]) -> Result<Vec<i64>, KvError> {
        if vouchers.is_empty() {
            return Ok(Vec::new());
        }
        let mut pipe = redis::pipe();
        for voucher in vouchers {
            pipe.hlen(self.keys.claims(*voucher));
        }
        let fields: Vec<i64> = pipe.query_async(&mut self.calm.clone()).await?;
        // One field carries the epoch.
        Ok(fields.into_iter().map(|fields| (fields - 1).max(0)).collect())
    }
}
