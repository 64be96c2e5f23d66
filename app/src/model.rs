//! What the pages hand to their islands, and what follows from it. No browser and no server in here.

use domain::{FailReason, GrabOutcome, OrderId, OrderState, SaleState, VoucherId};
use serde::{Deserialize, Serialize};

use crate::texts::Lang;

/// The last seconds before the opening, which are counted in their own words.
const OPENING_MS: i64 = 10_000;
/// An address can't make anybody wait longer: seconds.
const LONGEST_WAIT: u64 = 60;

/// A sale as a page knew it when it was rendered. Times are Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaleProps {
    /// Which sale.
    pub voucher_id: VoucherId,
    /// Units left; absent while Redis does not hold the sale.
    pub stock: Option<i64>,
    /// Nothing is left, and some may come back.
    pub held: bool,
    /// Units published.
    pub initial: i64,
    /// The state by the server's clock.
    pub state: SaleState,
    /// The opening instant.
    pub begins_ms: i64,
    /// The first instant in which nothing is sold any more.
    pub ends_ms: i64,
    /// The server's clock when it rendered this.
    pub now_ms: i64,
    /// The page's language.
    pub lang: Lang,
}

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderProps {
    /// Which order: text all the way, because it passes what a browser's numbers hold.
    pub order_id: OrderId,
    /// Where it stands.
    pub state: OrderState,
    /// Why it failed.
    #[serde(default)]
    pub reason: Option<FailReason>,
}

/// An instant, for programs and for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// RFC 3339.
    pub instant: String,
    /// As people read it.
    pub text: String,
}

impl OrderProps {
    /// What is known after some news. Events may be late or come twice: nothing goes back from settled to queued, and
    /// an older order does not replace a newer one.
    pub fn merged(known: Option<Self>, news: Self) -> Self {
        match known {
            Some(known) if known.order_id > news.order_id => known,
            Some(known) if known.order_id == news.order_id && news.state == OrderState::Queued => known,
            _ => news,
        }
    }

    /// Whether it stands in the way of another grab.
    pub fn holds(self) -> bool {
        self.state == OrderState::Queued || self.state.is_live()
    }
}

/// What a sale is to a shopper who looks at it now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Opens later.
    Scheduled,
    /// Opens within seconds.
    Opening,
    /// Grabs are taken.
    Open,
    /// Open, with nothing left.
    SoldOut,
    /// Open, with nothing left for now: orders are still being confirmed.
    AllHeld,
    /// Stopped by an operator for now.
    Paused,
    /// Over.
    Ended,
    /// Open, but Redis does not hold it.
    NotReady,
}

impl Phase {
    /// Operators' doings are the server's word; the clock decides the rest, so that nobody waits for an event.
    pub const fn at(
        now_ms: i64,
        begins_ms: i64,
        ends_ms: i64,
        state: SaleState,
        stock: Option<i64>,
        held: bool,
    ) -> Self {
        if matches!(state, SaleState::Ended) || now_ms >= ends_ms {
            Self::Ended
        } else if matches!(state, SaleState::Paused) {
            Self::Paused
        } else if now_ms < begins_ms {
            if now_ms >= begins_ms - OPENING_MS {
                Self::Opening
            } else {
                Self::Scheduled
            }
        } else {
            match stock {
                None => Self::NotReady,
                Some(left) if left > 0 => Self::Open,
                Some(_) if held => Self::AllHeld,
                Some(_) => Self::SoldOut,
            }
        }
    }

    /// The word that style sheets and tests look for.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Opening => "opening",
            Self::Open => "open",
            Self::SoldOut => "sold_out",
            Self::AllHeld => "all_held",
            Self::Paused => "paused",
            Self::Ended => "ended",
            Self::NotReady => "not_ready",
        }
    }
}

/// An outcome from the parts of its JSON.
#[cfg(any(feature = "hydrate", test))]
pub(crate) fn outcome(
    word: &str,
    order_id: Option<OrderId>,
    retry_after_ms: Option<u64>,
) -> Option<GrabOutcome> {
    Some(match (word, order_id) {
        ("queued", Some(order_id)) => GrabOutcome::Queued { order_id },
        ("already_ordered", Some(order_id)) => GrabOutcome::AlreadyOrdered { order_id },
        ("sold_out", _) => GrabOutcome::SoldOut,
        ("not_started", _) => GrabOutcome::NotStarted,
        ("ended", _) => GrabOutcome::Ended,
        ("paused", _) => GrabOutcome::Paused,
        ("not_ready", _) => GrabOutcome::NotReady,
        ("rate_limited", _) => GrabOutcome::RateLimited {
            retry_after_ms: retry_after_ms?,
        },
        ("busy", _) => GrabOutcome::Busy,
        ("unknown_voucher", _) => GrabOutcome::UnknownVoucher,
        _ => return None,
    })
}

/// Why the last attempt gave nothing, or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// No unit was left.
    SoldOut,
    /// It was too early by the server's clock.
    NotStarted,
    /// It was too late.
    Ended,
    /// Stopped by an operator.
    Paused,
    /// The sale is being loaded.
    NotReady,
    /// Too many attempts; seconds to wait.
    SlowDown(u64),
    /// Too much is waiting.
    Busy,
    /// There is no such sale.
    Unknown,
    /// The session is over.
    SignIn,
    /// The connection failed: whether a unit was taken is unknown.
    Lost,
    /// Something broke on our side.
    Trouble,
    /// An order was accepted, and the server knows it no more.
    Gone,
}

impl Note {
    const WORDS: [(Self, &str); 12] = [
        (Self::SoldOut, "sold_out"),
        (Self::NotStarted, "not_started"),
        (Self::Ended, "ended"),
        (Self::Paused, "paused"),
        (Self::NotReady, "not_ready"),
        (Self::SlowDown(1), "slow_down"),
        (Self::Busy, "busy"),
        (Self::Unknown, "unknown"),
        (Self::SignIn, "sign_in"),
        (Self::Lost, "lost"),
        (Self::Trouble, "trouble"),
        (Self::Gone, "gone"),
    ];

    /// What a refusal means; nothing for an order.
    pub const fn of(outcome: GrabOutcome) -> Option<Self> {
        Some(match outcome {
            GrabOutcome::Queued { .. } | GrabOutcome::AlreadyOrdered { .. } => return None,
            GrabOutcome::SoldOut => Self::SoldOut,
            GrabOutcome::NotStarted => Self::NotStarted,
            GrabOutcome::Ended => Self::Ended,
            GrabOutcome::Paused => Self::Paused,
            GrabOutcome::NotReady => Self::NotReady,
            GrabOutcome::RateLimited { retry_after_ms } => Self::SlowDown(retry_after_ms.div_ceil(1000)),
            GrabOutcome::Busy => Self::Busy,
            GrabOutcome::UnknownVoucher => Self::Unknown,
        })
    }

    /// The word that carries it through the address of a page.
    pub fn word(self) -> &'static str {
        let same = |note: Self| std::mem::discriminant(&note) == std::mem::discriminant(&self);
        Self::WORDS
            .iter()
            .find(|(note, _)| same(*note))
            .map_or("trouble", |(_, word)| word)
    }

    /// Reads the word back, and the seconds that came with it.
    pub fn from_word(word: &str, seconds: &str) -> Option<Self> {
        let (note, _) = Self::WORDS.into_iter().find(|(_, known)| *known == word)?;
        Some(match note {
            Self::SlowDown(_) => Self::SlowDown(seconds.parse().unwrap_or(1).min(LONGEST_WAIT)),
            other => other,
        })
    }

    /// Seconds in which another attempt is of no use.
    pub const fn wait(self) -> Option<u64> {
        match self {
            Self::SlowDown(0) => Some(1),
            Self::SlowDown(seconds) => Some(seconds),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SaleState::{Ended, Live, Paused, Scheduled};

    #[test]
    fn the_clock_opens_and_closes_and_operators_overrule_it() {
        let at = |now, state, stock| Phase::at(now, 100_000, 200_000, state, stock, false);
        assert_eq!(at(0, Scheduled, Some(5)), Phase::Scheduled);
        assert_eq!(at(90_000, Scheduled, Some(5)), Phase::Opening);
        assert_eq!(at(99_999, Live, Some(5)), Phase::Opening);
        assert_eq!(at(100_000, Scheduled, Some(5)), Phase::Open);
        assert_eq!(at(100_000, Live, Some(0)), Phase::SoldOut);
        assert_eq!(at(100_000, Live, None), Phase::NotReady);
        let held = Phase::at(100_000, 100_000, 200_000, Live, Some(0), true);
        assert_eq!(held, Phase::AllHeld);
        assert_eq!(at(150_000, Paused, Some(0)), Phase::Paused);
        assert_eq!(at(200_000, Live, Some(5)), Phase::Ended);
        assert_eq!(at(0, Ended, Some(5)), Phase::Ended);
    }

    #[test]
    fn late_news_change_nothing() {
        let order = |id, state| OrderProps {
            order_id: OrderId::new(id).unwrap(),
            state,
            reason: None,
        };
        let confirmed = order(7, OrderState::Confirmed);
        assert_eq!(
            OrderProps::merged(Some(confirmed), order(7, OrderState::Queued)),
            confirmed
        );
        assert_eq!(
            OrderProps::merged(Some(confirmed), order(6, OrderState::Failed)),
            confirmed
        );
        let next = order(8, OrderState::Queued);
        assert_eq!(OrderProps::merged(Some(order(7, OrderState::Failed)), next), next);
        assert_eq!(OrderProps::merged(None, next), next);
    }

    #[test]
    fn every_outcome_is_read_as_it_is_written() {
        let order_id = OrderId::new(9_007_199_254_740_993).unwrap();
        for written in [
            GrabOutcome::Queued { order_id },
            GrabOutcome::AlreadyOrdered { order_id },
            GrabOutcome::SoldOut,
            GrabOutcome::NotStarted,
            GrabOutcome::Ended,
            GrabOutcome::Paused,
            GrabOutcome::NotReady,
            GrabOutcome::RateLimited { retry_after_ms: 1500 },
            GrabOutcome::Busy,
            GrabOutcome::UnknownVoucher,
        ] {
            let json = serde_json::to_value(written).unwrap();
            let id = json["order_id"].as_str().and_then(|id| id.parse().ok());
            let read = outcome(
                json["outcome"].as_str().unwrap(),
                id,
                json["retry_after_ms"].as_u64(),
            );
            assert_eq!(read, Some(written));
        }
        assert_eq!(outcome("queued", None, None), None);
    }

    #[test]
    fn every_note_has_a_word_of_its_own() {
        for (note, word) in Note::WORDS {
            assert_eq!(note.word(), word);
            assert_eq!(Note::from_word(word, ""), Some(note));
        }
        assert_eq!(Note::SlowDown(30).word(), "slow_down");
        assert_eq!(Note::from_word("slow_down", "30"), Some(Note::SlowDown(30)));
        assert_eq!(Note::from_word("slow_down", "99999"), Some(Note::SlowDown(60)));
        assert_eq!(Note::from_word("<b>", ""), None);
    }
}
