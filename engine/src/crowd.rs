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

/// The average goes over about this many calls: one that waited for a hiccup is no crowd.
const CALLS: u64 = 8;

/// The crowd before all sales of this process.
#[derive(Debug)]
pub(crate) struct Crowd {
    born: Instant,
    /// Attempts that come together while one call is under way, on average, from which on it is a crowd.
    many: u64,
    /// The average of late, times [`CALLS`].
    average: AtomicU64,
    /// When a crowd was last seen, in milliseconds since `born`, plus one; 0: never.
    last: AtomicU64,
}

impl Crowd {
    /// Calls that carry a quarter of what they may are a crowd's: attempts come faster than Redis answers them.
    pub(crate) fn new(grab_batch: usize) -> Self {
        Self {
            born: Instant::now(),
            many: (grab_batch as u64 / 4).max(2),
            average: AtomicU64::new(0),
            last: AtomicU64::new(0),
        }
    }

    /// A call carries this many attempts. Two lanes may overwrite each other's count: it is a guess anyway.
    pub(crate) fn note(&self, attempts: usize) {
        let before = self.average.load(Ordering::Relaxed);
        let now = before - before / CALLS + attempts as u64;
        self.average.store(now, Ordering::Relaxed);
        if now >= self.many * CALLS {
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
    async fn a_crowd_is_many_call_after_call_and_passes() {
        let crowd = Crowd::new(256);
        for _ in 0..100 {
            crowd.note(50);
        }
        crowd.note(150);
        assert!(!crowd.presses(), "one large call among small ones is none");
        for _ in 0..10 {
            crowd.note(150);
        }
        assert!(crowd.presses());
        tokio::time::advance(PASSED).await;
        assert!(!crowd.presses());
    }
}
