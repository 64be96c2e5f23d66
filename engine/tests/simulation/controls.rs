//! Positive controls (K57): each broken rule is noticed within as many schedules as the sound model survives.

use crate::{
    model::Mutation,
    run::{SCHEDULES, search, story},
};

/// Fails unless some schedule breaks one of these invariants.
fn is_caught(mutation: Mutation, by: &[&str]) {
    let seed = search(SCHEDULES, mutation);
    let seed = seed.unwrap_or_else(|| panic!("no schedule notices {mutation:?}"));
    let story = story(seed, mutation);
    assert!(
        by.iter().any(|id| story.contains(&format!("Err(\"{id}:"))),
        "{mutation:?} is noticed, but not by one of {by:?}: {story}"
    );
}

#[test]
fn k57_i2_a_script_that_forgets_claims_is_caught() {
    is_caught(Mutation::NoClaimCheck, &["I2", "I10"]);
}

#[test]
fn k57_i1_a_script_that_ignores_the_stock_is_caught() {
    is_caught(Mutation::NoStockCheck, &["I1", "I10"]);
}

#[test]
fn k57_i2_a_script_that_ignores_epochs_is_caught() {
    is_caught(Mutation::NoEpochCheck, &["I2"]);
}

#[test]
fn k57_i3_acknowledging_before_the_commit_is_caught() {
    is_caught(Mutation::AckBeforeCommit, &["I2", "I3", "I4", "I5"]);
}

#[test]
fn k57_i4_giving_back_twice_is_caught() {
    is_caught(Mutation::GiveBackTwice, &["I4", "I5"]);
}

#[test]
fn k57_i5_rebuilding_without_closing_first_is_caught() {
    is_caught(Mutation::RebuildWithoutClose, &["I2", "I4", "I5"]);
}

#[test]
fn k57_i5_confirming_orders_of_an_epoch_left_behind_is_caught() {
    is_caught(Mutation::StaleOrdersConfirmed, &["I4", "I5"]);
}

#[test]
fn k57_i5_recovering_a_change_under_its_operator_is_caught() {
    is_caught(Mutation::RecoveryOnlyLooks, &["I5"]);
}

#[test]
fn k57_i11_steering_out_of_order_is_caught() {
    is_caught(Mutation::SteersOutOfOrder, &["I11"]);
}

#[test]
fn k57_i2_raising_the_epoch_of_a_sale_that_sells_again_is_caught() {
    is_caught(Mutation::RaiseBlindly, &["I2"]);
}

#[test]
fn k57_i3_forgetting_claims_whose_entries_are_lost_is_caught() {
    is_caught(Mutation::ForgetOrphans, &["I2", "I3"]);
}
