//! How hard the crowd presses. The consumer of the same process, which shares its processors, lets it pass first.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::Instant;

/// Time between two looks at the crowd.
pub(crate) const GLANCE: Duration = Duration::from_millis(5);
/// A crowd that was not seen for this long has passed: longer than one call takes on a busy machine.
const PASSED: Duration = Duration::from_millis(50);

/// The crowd before all sales of this process.
#[derive(Debug)]
pub(crate) struct Crowd {
    born: Instant,
    /// Attempts that came together while one call was under way, from which on it is a crowd.
    many: usize,
    /// When it was last seen, in milliseconds since `born`, plus one; 0: never.
    last: AtomicU64,
}

impl Crowd {
    /// A call that carries a quarter of what it may is a crowd's: attempts come faster than Redis answers them.
    pub(crate) fn new(grab_batch: usize) -> Self {
        Self {
            born: Instant::now(),
            many: (grab_batch / 4).max(2),
            last: AtomicU64::new(0),
        }
    }

    /// A call carries this many attempts.
    pub(crate) fn note(&self, attempts: usize) {
        if attempts >= self.many {
            self.last.store(self.now() + 1, Ordering::Relaxed);
        }
    }

    /// Whether it pressed just now.
    pub(crate) fn presses(&self) -> bool {
        let last = self.last.load(Ordering::Relaxed);
        let passed = u64::try_from(PASSED.as_millis()).unwrap_or(u64::MAX);
        last > 0 && self.now() + 1 < last + passed
    }

    fn now(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_crowd_is_many_at_once_and_passes() {
        let crowd = Crowd::new(256);
        assert!(!crowd.presses());
        crowd.note(63);
        assert!(!crowd.presses(), "a few are none");
        crowd.note(64);
        assert!(crowd.presses());
        tokio::time::advance(PASSED).await;
        assert!(!crowd.presses());
    }
}
