//! The faults, as data: what is played, and by which function. Ids are those of the catalogue.

mod clients;
mod consumers;
mod controls;
mod crashes;
mod ledgers;
mod losses;
mod networks;
mod operators;
mod parts;
mod refusals;
mod soak;
mod storm;

use futures_util::future::LocalBoxFuture;

use crate::{check::Verdict, stage::Stage};

/// A playing scenario.
pub(crate) type Play = for<'a> fn(&'a mut Stage) -> LocalBoxFuture<'a, anyhow::Result<Verdict>>;

/// A fault.
pub(crate) struct Scenario {
    /// As in the catalogue.
    pub(crate) id: &'static str,
    /// In a few words.
    pub(crate) about: &'static str,
    /// Part of the short set.
    pub(crate) quick: bool,
    /// For a sabotaged build: the invariants that must be found broken.
    pub(crate) caught_by: &'static [&'static str],
    /// Plays it.
    pub(crate) play: Play,
}

impl std::fmt::Debug for Scenario {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl Scenario {
    /// One that is to be survived.
    const fn new(id: &'static str, about: &'static str, play: Play) -> Self {
        Self {
            id,
            about,
            quick: false,
            caught_by: &[],
            play,
        }
    }

    /// In the short set too.
    const fn quick(mut self) -> Self {
        self.quick = true;
        self
    }

    /// A positive control.
    const fn caught_by(mut self, invariants: &'static [&'static str]) -> Self {
        self.caught_by = invariants;
        self
    }
}

/// All scenarios, in the order in which they are played.
pub(crate) fn all() -> impl Iterator<Item = &'static Scenario> {
    [
        controls::ALL,
        crashes::ALL,
        consumers::ALL,
        losses::ALL,
        refusals::ALL,
        ledgers::ALL,
        networks::ALL,
        clients::ALL,
        operators::ALL,
        storm::ALL,
        soak::ALL,
    ]
    .into_iter()
    .flatten()
}

/// Faults of the catalogue that another test proves.
pub(crate) const ELSEWHERE: &[(&str, &str)] = &[
    (
        "K46, R25",
        "nothing trims: an entry is deleted when it is acknowledged; engine test `k27_claims_without_entry_and_order_are_queued_again_once` for entries that vanish all the same",
    ),
    ("K51, K55", "not here: a later issue names them"),
    ("R01", "engine tests `r01_…`; K6 here"),
    (
        "R03",
        "engine test `r03_the_last_unit_goes_to_exactly_one_of_five_hundred_twenty_times`",
    ),
    (
        "R04, R12",
        "engine tests `r04_k50_…`, `i4_a_second_order_of_one_user_fails_and_its_unit_returns_once`, `k48_a_unit_that_never_went_back_is_swept_up_once`; K50, K48 here",
    ),
    (
        "R06",
        "engine test `r06_one_failure_does_not_touch_the_others`; K15 here",
    ),
    (
        "R07",
        "engine test `i8_an_order_is_queued_until_its_row_exists_and_then_confirmed`; K2, K3, K36, K39 here",
    ),
    ("R08", "there is no queue in memory: R24 here"),
    ("R09", "engine test `k44_r09_…`; K44 here"),
    ("R10, R11", "there is no payment and no cancellation yet"),
    ("R13", "one transaction: K8, K12 here"),
    (
        "R14",
        "engine test `r14_a_held_letter_is_replayed_or_released_and_its_unit_moves_once`",
    ),
    (
        "R15",
        "sales are locked in one order: K21 and K53 here run several consumers",
    ),
    ("R17", "K26 here; engine test `k26_r17_…`"),
    ("R19", "K52, K53 here"),
    ("R20", "K15 here; engine test `r20_…`"),
    (
        "R21, R23",
        "K7, K18, K19 here; server test `r23_default_consumer_names_differ`",
    ),
    (
        "R27, R28, R30",
        "each consumer has a connection of its own whose time-out is longer than its wait; K53 and K54 here",
    ),
    ("R29", "K21, K52 here"),
    (
        "R32",
        "a task that ends by itself ends the process: `server::serve`; K41 here for readiness",
    ),
    (
        "R33",
        "K37, K53 here: the duplicate branch shares the transaction",
    ),
    ("R34", "K29 here"),
    ("R37", "R36 here refuses to start without a log"),
    (
        "R40",
        "engine test `r40_all_keys_of_a_sale_and_its_stream_share_a_hash_tag`",
    ),
    (
        "R42",
        "engine test `r42_units_that_do_not_add_up_are_told_at_the_second_look_and_left_alone`",
    ),
    ("R43, R44, R45", "engine tests `r43_…`, `r45_…`; B here"),
];
