//! The script decides, a queue in the process carries: fast, and whatever waits in the queue dies with the process.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use anyhow::{Context, Result};
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::{Said, Strategy, Venue, lua_stream::Decide, row};

/// As in the teaching project, but bounded.
const PLACES: usize = 1 << 20;

pub(super) struct LuaQueue {
    decide: Decide,
    queue: mpsc::Sender<i64>,
    waiting: Arc<AtomicU64>,
}

impl LuaQueue {
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        let decide = Decide::open(venue).await?;
        let (queue, mut orders) = mpsc::channel(PLACES);
        let waiting = Arc::new(AtomicU64::new(0));
        let (venue, left) = (venue.clone(), waiting.clone());
        tokio::spawn(async move {
            while let Some(user) = orders.recv().await {
                let mut tx = venue.pool.begin().await?;
                row::take_guarded(&mut tx, user).await?;
                tx.commit().await?;
                left.fetch_sub(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        });
        Ok(Self {
            decide,
            queue,
            waiting,
        })
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let said = self.decide.ask(user).await?;
        if said == Said::Accepted {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            self.queue.try_send(user).context("the queue is full")?;
        }
        Ok(said)
    }

    async fn empty(&self) -> Result<()> {
        while self.waiting.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        Ok(())
    }
}

impl Strategy for LuaQueue {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }

    fn settle(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.empty())
    }
}
