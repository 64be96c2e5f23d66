//! Orders and the states they pass.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{OrderId, Timestamp, VoucherId};

/// A word that is none of the closed list's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown word")]
pub struct UnknownWord;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OrderState {
    /// Redis gave the unit; the ledger has not written it yet.
    Queued,
    /// In the ledger.
    Confirmed,
    /// Paid for.
    Paid,
    /// Redeemed.
    Used,
    /// Could not become an order; the unit went back.
    Failed,
    /// Given up by its owner.
    Cancelled,
    /// Not paid in time.
    Expired,
    /// Paid back.
    Refunded,
}

impl OrderState {
    const ALL: [Self; 8] = [
        Self::Queued,
        Self::Confirmed,
        Self::Paid,
        Self::Used,
        Self::Failed,
        Self::Cancelled,
        Self::Expired,
        Self::Refunded,
    ];

    /// The word in JSON, in events and in the ledger.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Confirmed => "confirmed",
            Self::Paid => "paid",
            Self::Used => "used",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Refunded => "refunded",
        }
    }

    /// Whether the order holds a unit in the ledger: at most one such order a user and voucher (I2).
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Confirmed | Self::Paid | Self::Used)
    }
}

impl FromStr for OrderState {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL
            .into_iter()
            .find(|state| state.word() == word)
            .ok_or(UnknownWord)
    }
}

/// Why an accepted grab did not become an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    /// The owner has a live order for this voucher under another id.
    Duplicate,
    /// The ledger has no unit left.
    NoStock,
    /// The ledger does not know the voucher or the account, or refused the row.
    Rejected,
}

impl FailReason {
    /// The word in JSON, in events and in the ledger.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::NoStock => "no_stock",
            Self::Rejected => "rejected",
        }
    }
}

impl FromStr for FailReason {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        [Self::Duplicate, Self::NoStock, Self::Rejected]
            .into_iter()
            .find(|r| r.word() == word)
            .ok_or(UnknownWord)
    }
}

/// An order as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Order {
    /// The same text in the 202, in events, on the page and in SQL.
    pub order_id: OrderId,
    /// What was bought.
    pub voucher_id: VoucherId,
    /// Its title; absent while the order is queued and the sale is unknown here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub title: Option<String>,
    /// Where it stands.
    pub state: OrderState,
    /// Why it failed; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub reason: Option<FailReason>,
    /// When the id was minted, to the second.
    pub ordered_at: Timestamp,
    /// When the ledger last changed it; absent while queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub updated_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back_and_others_are_refused() {
        for state in OrderState::ALL {
            assert_eq!(state.word().parse(), Ok(state));
            assert_eq!(
                serde_json::to_string(&state).unwrap(),
                format!("\"{}\"", state.word())
            );
        }
        assert_eq!("sold".parse::<OrderState>(), Err(UnknownWord));
        for reason in [FailReason::Duplicate, FailReason::NoStock, FailReason::Rejected] {
            assert_eq!(reason.word().parse(), Ok(reason));
            assert_eq!(
                serde_json::to_string(&reason).unwrap(),
                format!("\"{}\"", reason.word())
            );
        }
    }
}
