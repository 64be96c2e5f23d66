//! Who uses the shop.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{UnknownWord, UserId};

/// Why a text is not a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a phone number has eleven digits and begins with 1, like 13800000000")]
pub struct PhoneError;

/// A mainland-China mobile number: eleven digits, 1 and then 3 to 9. Never logged: `Debug` hides its middle.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Phone(String);

impl Phone {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}****{}", &self.0[..3], &self.0[7..])
    }
}

impl FromStr for Phone {
    type Err = PhoneError;

    fn from_str(text: &str) -> Result<Self, PhoneError> {
        let b = text.as_bytes();
        let right = b.len() == 11
            && b[0] == b'1'
            && (b'3'..=b'9').contains(&b[1])
            && b.iter().all(u8::is_ascii_digit);
        if right {
            Ok(Self(text.to_owned()))
        } else {
            Err(PhoneError)
        }
    }
}

/// What an account may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Buys.
    Shopper,
    /// Steers sales.
    Admin,
}

impl Role {
    /// The word that the ledger holds.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shopper => "shopper",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        [Self::Shopper, Self::Admin]
            .into_iter()
            .find(|role| role.word() == word)
            .ok_or(UnknownWord)
    }
}

/// An account as its owner sees it: the phone number is masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Account {
    /// The account's id.
    pub id: UserId,
    /// The phone number with its middle hidden, like `138****0000`.
    pub phone: String,
    /// What it may do.
    pub role: Role,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_are_eleven_ascii_digits_and_debug_hides_them() {
        let phone: Phone = "13800000001".parse().unwrap();
        assert_eq!(format!("{phone:?}"), "138****0001");
        for text in [
            "",
            "1380000000",
            "138000000000",
            "23800000000",
            "12800000000",
            "1380000000a",
            "１3800000000",
        ] {
            assert_eq!(text.parse::<Phone>(), Err(PhoneError), "{text}");
        }
    }
}
