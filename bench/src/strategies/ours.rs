//! Ours, at the level of functions like the others: the engine with its consumer, without HTTP.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, Result};
use domain::{GrabOutcome, SaleDraft, UserId, VoucherId};
use engine::{Clock, Engine, EngineSettings, SystemClock};
use futures_util::future::BoxFuture;
use prometheus_client::registry::Registry;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Said, Strategy, Venue};

const HOUR: Duration = Duration::from_hours(1);

pub(super) struct Ours {
    engine: Engine,
    voucher: VoucherId,
    _stop: DropGuard,
}

impl Ours {
    /// Joins the newest sale if it is open, else publishes one.
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        let settings = EngineSettings::new(&venue.at.redis[0], &venue.at.database, "strategy");
        let engine = Engine::start(settings, Arc::new(SystemClock), &mut Registry::default()).await?;
        engine.renew().await?;
        let open = sqlx::query_scalar::<_, i64>(
            "SELECT max(voucher_id) FROM seckill_voucher WHERE state = 'running'",
        )
        .fetch_optional(&venue.pool)
        .await;
        let voucher = match open {
            Ok(Some(id)) => VoucherId::new(id)?,
            _ => publish(&engine, venue.stock).await?,
        };
        let stop = CancellationToken::new();
        for worker in engine.workers(&stop) {
            tokio::spawn(worker.run());
        }
        Ok(Self {
            engine,
            voucher,
            _stop: stop.drop_guard(),
        })
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        Ok(match self.engine.grab(UserId::new(user)?, self.voucher).await? {
            GrabOutcome::Queued { .. } => Said::Accepted,
            GrabOutcome::AlreadyOrdered { .. } => Said::Duplicate,
            GrabOutcome::SoldOut => Said::SoldOut,
            _ => Said::Refused,
        })
    }

    async fn empty(&self) -> Result<()> {
        loop {
            let streams = self.engine.streams().await?;
            if streams.iter().all(|stream| stream.waiting == 0) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

async fn publish(engine: &Engine, stock: i64) -> Result<VoucherId> {
    let now = SystemClock.now();
    let draft = SaleDraft {
        title: "A strategy's voucher".into(),
        sub_title: String::new(),
        rules: String::new(),
        pay_value: 1,
        actual_value: 1,
        stock,
        begins_at: now - Duration::from_secs(1),
        ends_at: now + HOUR,
    };
    let voucher = engine.publish(None, 1, draft).await;
    Ok(voucher.context("the sale was not published")?.id)
}

impl Strategy for Ours {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }

    fn settle(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.empty())
    }
}
