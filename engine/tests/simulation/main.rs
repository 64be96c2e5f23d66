//! The flash sale as a state machine in memory, driven through many thousands of seeded schedules, and a comparison of
//! that machine with the real scripts. Tests carry the ids of the invariants (I…) and faults (K…) they stand for.

mod actors;
mod check;
mod controls;
mod coverage;
#[cfg(test)]
mod drift;
mod model;
mod run;
mod schedules;
mod seeds;
mod world;
