//! The faults, as data: what is played, and by which function. Ids are those of the catalogue.

mod clients;
mod consumers;
mod controls;
mod crashes;
mod ledgers;
mod networks;
mod parts;
mod stores;
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
        stores::ALL,
        ledgers::ALL,
        networks::ALL,
        clients::ALL,
        storm::ALL,
    ]
    .into_iter()
    .flatten()
}

/// Faults of the catalogue that another test proves.
pub(crate) const ELSEWHERE: &[(&str, &str)] = &[];
