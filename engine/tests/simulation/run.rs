//! Running many schedules, on two threads, and telling what went wrong in one.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{model::Mutation, world::World};

/// Schedules of a run.
pub(crate) const SCHEDULES: u64 = 100_000;
/// Threads that share a run.
const THREADS: u64 = 2;

/// Runs one schedule.
pub(crate) fn run(seed: u64, mutation: Mutation) -> Result<(), String> {
    World::new(seed, mutation, false).run()
}

/// The lowest failing seed among `0..count`.
pub(crate) fn search(count: u64, mutation: Mutation) -> Option<u64> {
    let found = AtomicU64::new(u64::MAX);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let found = &found;
            scope.spawn(move || {
                let mut seed = thread;
                while seed < count && seed < found.load(Ordering::Relaxed) {
                    if run(seed, mutation).is_err() {
                        found.fetch_min(seed, Ordering::Relaxed);
                    }
                    seed += THREADS;
                }
            });
        }
    });
    let seed = found.into_inner();
    (seed < count).then_some(seed)
}

/// The whole story of a schedule, to be read by people.
pub(crate) fn story(seed: u64, mutation: Mutation) -> String {
    let mut world = World::new(seed, mutation, true);
    let end = world.run();
    format!(
        "seed {seed}, {mutation:?}: {end:?}\n  {}",
        world.take_trace().join("\n  ")
    )
}
