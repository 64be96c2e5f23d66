//! When the next request is due.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

/// How often due requests are released. tokio's own timer has whole milliseconds; a thread that sleeps is finer and cheap.
const BEAT: Duration = Duration::from_micros(400);

/// Releases requests at a constant rate, whatever became of the earlier ones.
pub(super) struct Metronome {
    due: Arc<Semaphore>,
    stop: Arc<AtomicBool>,
    beater: Option<thread::JoinHandle<()>>,
    start: Instant,
    per_second: f64,
}

impl Metronome {
    /// Starts to beat.
    pub(super) fn start(per_second: f64) -> Self {
        let due = Arc::new(Semaphore::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let start = Instant::now() + Duration::from_millis(20);
        let (permits, stopped) = (due.clone(), stop.clone());
        let beater = thread::spawn(move || {
            let mut released = 0;
            while !stopped.load(Ordering::Relaxed) {
                let elapsed = Instant::now().saturating_duration_since(start).as_secs_f64();
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "positive and small"
                )]
                let wanted = (elapsed * per_second) as usize;
                if wanted > released {
                    permits.add_permits(wanted - released);
                    released = wanted;
                }
                thread::sleep(BEAT);
            }
        });
        Self {
            due,
            stop,
            beater: Some(beater),
            start,
            per_second,
        }
    }

    /// Waits until some request is due. `false`: the run is over.
    pub(super) async fn wait(&self) -> bool {
        match self.due.acquire().await {
            Ok(permit) => {
                permit.forget();
                true
            }
            Err(_) => false,
        }
    }

    /// Releases nobody any more: the run is over.
    pub(super) fn finish(&self) {
        self.due.close();
    }

    /// When request `number` is due.
    #[expect(clippy::cast_precision_loss, reason = "numbers of requests are small")]
    pub(super) fn due_at(&self, number: u64) -> Instant {
        self.start + Duration::from_secs_f64(number as f64 / self.per_second)
    }
}

impl Drop for Metronome {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(beater) = self.beater.take() {
            let _ = beater.join();
        }
    }
}
