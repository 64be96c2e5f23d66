//! A mutex for each user in memory: right in one process, and useless as soon as there are two.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use super::{Said, Strategy, Venue, row};

/// Users that share a mutex are only slower for it.
const STRIPES: usize = 4096;

/// Some processes behind a round robin. Each has mutexes of its own: that is all that two processes mean here.
pub(super) struct UserMutex {
    venue: Venue,
    processes: Vec<Vec<Mutex<()>>>,
    turn: AtomicUsize,
}

impl UserMutex {
    pub(super) fn processes(venue: &Venue, n: usize) -> Self {
        Self {
            venue: venue.clone(),
            processes: (0..n)
                .map(|_| (0..STRIPES).map(|_| Mutex::new(())).collect())
                .collect(),
            turn: AtomicUsize::new(0),
        }
    }

    async fn attempt(&self, user: i64) -> Result<Said> {
        let process = self.turn.fetch_add(1, Ordering::Relaxed) % self.processes.len();
        let stripe = usize::try_from(user).unwrap_or(0) % STRIPES;
        let _held = self.processes[process][stripe].lock().await;
        row::check_then_take(&self.venue, user).await
    }
}

impl Strategy for UserMutex {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.attempt(user))
    }
}
