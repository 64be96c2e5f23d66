//! One flash sale of a voucher: its window, what operators did to it, and the state that follows from both.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Timestamp, UnknownWord};

/// When grabs are taken: from `begins_at` up to, and without, `ends_at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaleWindow {
    /// The opening instant.
    pub begins_at: Timestamp,
    /// The first instant in which nothing is sold any more.
    pub ends_at: Timestamp,
}

/// What operators last did to a sale. The window decides the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// The window alone decides.
    Running,
    /// Grabs are refused until somebody resumes.
    Paused,
    /// Over for good, whatever the window says.
    Ended,
    /// Not published yet: the ledger alone knows it, and only operators see it.
    Draft,
}

impl Control {
    /// The word that both stores hold.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Ended => "ended",
            Self::Draft => "draft",
        }
    }
}

impl FromStr for Control {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        [Self::Running, Self::Paused, Self::Ended, Self::Draft]
            .into_iter()
            .find(|c| c.word() == word)
            .ok_or(UnknownWord)
    }
}

/// What a sale is to a shopper at some instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SaleState {
    /// Opens later.
    Scheduled,
    /// Grabs are taken.
    Live,
    /// Stopped by an operator for now.
    Paused,
    /// Over.
    Ended,
    /// Not published: shoppers never see it.
    Draft,
}

impl SaleState {
    /// The word in JSON and in events.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Live => "live",
            Self::Paused => "paused",
            Self::Ended => "ended",
            Self::Draft => "draft",
        }
    }
}

impl SaleWindow {
    /// The state at `now`. The end beats a pause, and a pause beats the opening, as in `grab.lua`.
    pub fn state(self, control: Control, now: Timestamp) -> SaleState {
        if control == Control::Draft {
            SaleState::Draft
        } else if control == Control::Ended || now >= self.ends_at {
            SaleState::Ended
        } else if control == Control::Paused {
            SaleState::Paused
        } else if now < self.begins_at {
            SaleState::Scheduled
        } else {
            SaleState::Live
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r09_the_window_is_half_open_and_the_end_beats_the_pause() {
        let at = Timestamp::from_millis;
        let window = SaleWindow {
            begins_at: at(1000),
            ends_at: at(2000),
        };
        assert_eq!(window.state(Control::Running, at(999)), SaleState::Scheduled);
        assert_eq!(window.state(Control::Running, at(1000)), SaleState::Live);
        assert_eq!(window.state(Control::Running, at(1999)), SaleState::Live);
        assert_eq!(window.state(Control::Running, at(2000)), SaleState::Ended);
        assert_eq!(window.state(Control::Paused, at(999)), SaleState::Paused);
        assert_eq!(window.state(Control::Paused, at(2000)), SaleState::Ended);
        assert_eq!(window.state(Control::Ended, at(999)), SaleState::Ended);
        for now in [999, 1500, 2000] {
            assert_eq!(window.state(Control::Draft, at(now)), SaleState::Draft);
        }
    }
}
