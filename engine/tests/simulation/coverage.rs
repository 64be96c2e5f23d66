//! The schedules do pass the points at which they are meant to break: a model in which nothing happens proves nothing.

use crate::{model::Mutation, run::story};

/// Schedules that are read.
const READ: u64 = 1500;
/// How often each thing is to be met in them.
const OFTEN: usize = 3;

/// What a story tells when a point is passed.
const POINTS: [&str; 47] = [
    // Web processes and shoppers.
    "is killed at P0",
    "is killed at P1",
    "is killed at P2",
    "no answer from Redis in time",
    "a late call arrives",
    "the answer is lost on the way to the shoppers",
    "gives up waiting",
    "Queued",
    "OutOfStock",
    "Already(",
    "NotLoaded",
    "[Paused",
    "[Ended",
    // Consumers: C1, C2, C3, K, C4, C5, J, and another name.
    "is killed before Write",
    "the transaction rolls back",
    "the answer to the commit is lost",
    "is killed before Reject",
    "is killed before GiveBack",
    "is killed before Finish",
    "is killed before Tell",
    "the answer to the give-back is lost",
    "the answer to the acknowledgement is lost",
    "takes over",
    "finds no group",
    "starts as consumer 2",
    "settles [Entry { seq: 1, user: 1, order: 101, epoch: 1 }]: None",
    "Some([Confirmed, ",
    "Some([Settled",
    "Failed { instead: Some(",
    "instead None: true",
    "instead None: false",
    // Rebuilders: B.
    "is killed before Lock",
    "is killed before Close",
    "is killed before Raise",
    "is killed before Load",
    "Drain { fence: 1, newest: 1 } -> Rest",
    "Raise { fence: 1, newest: 1 } -> Rest",
    // Operators, recovery, sweeper, losses.
    "the operator is killed before Write",
    "the operator is killed before End",
    "recovery: Commit",
    "recovery: Abort",
    "the guardian steers",
    "the sweeper mends",
    "LOSS Key",
    "LOSS Stream",
    "LOSS Tail",
    "LOSS All",
];

#[test]
fn k57_the_schedules_pass_every_point() {
    let mut met = [0; POINTS.len()];
    for seed in 0..READ {
        let story = story(seed, Mutation::None);
        for (n, point) in met.iter_mut().zip(POINTS) {
            *n += usize::from(story.contains(point));
        }
    }
    let missed: Vec<_> = POINTS.iter().zip(met).filter(|(_, n)| *n < OFTEN).collect();
    assert!(missed.is_empty(), "hardly ever met: {missed:?}");
}
