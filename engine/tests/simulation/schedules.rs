//! The model keeps its invariants, whatever the order of steps and faults.

use crate::{
    model::Mutation,
    run::{SCHEDULES, search, story},
};

#[test]
fn i1_to_i6_i8_to_i10_a_hundred_thousand_schedules_keep_the_promises() {
    if let Some(seed) = search(SCHEDULES, Mutation::None) {
        panic!("{}", story(seed, Mutation::None));
    }
}
