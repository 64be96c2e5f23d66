//! Ids. In JSON each is a string: order ids pass 2^53, where a browser's numbers start to round (R46).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id is a whole number from 1 to 9223372036854775807")]
pub struct IdError;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[cfg_attr(feature = "openapi", schema(value_type = String, pattern = "^[1-9][0-9]{0,18}$", example = "10"))]
        pub struct $name(i64);

        impl $name {
            /// Takes any number from 1 up.
            pub const fn new(raw: i64) -> Result<Self, IdError> {
                if raw > 0 { Ok(Self(raw)) } else { Err(IdError) }
            }

            /// The number, as the stores hold it.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            /// Decimal digits only: no sign, no space, no leading zero, so that one id has one text.
            fn from_str(text: &str) -> Result<Self, IdError> {
                if text.starts_with('0') || !text.bytes().all(|b| b.is_ascii_digit()) {
                    return Err(IdError);
                }
                Self::new(text.parse().map_err(|_| IdError)?)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

id!(
    /// A voucher: what is sold.
    VoucherId
);
id!(
    /// A shopper's or operator's account.
    UserId
);
id!(
    /// An order, in the classic worker's layout: 31 bits of seconds since 2022-01-01 UTC, 32 bits of the day's counter.
    OrderId
);

impl OrderId {
    /// 2022-01-01T00:00:00Z in Unix seconds, where the classic layout starts to count.
    pub const EPOCH_SECONDS: i64 = 1_640_995_200;
    /// How many bits the day's counter takes.
    pub const COUNTER_BITS: u32 = 32;

    /// Joins a second and the counter of that second's day. `None` outside of 2022-01-01 to 2090-01-19.
    pub const fn compose(unix_seconds: i64, counter: u32) -> Option<Self> {
        let seconds = unix_seconds - Self::EPOCH_SECONDS;
        if seconds < 0 || seconds >= 1 << 31 {
            return None;
        }
        let raw = seconds << Self::COUNTER_BITS | counter as i64;
        if raw > 0 { Some(Self(raw)) } else { None }
    }

    /// The Unix second in which the id was minted.
    pub const fn unix_seconds(self) -> i64 {
        (self.0 >> Self::COUNTER_BITS) + Self::EPOCH_SECONDS
    }

    /// The day's counter.
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "the lower 32 bits are the counter"
    )]
    pub const fn counter(self) -> u32 {
        self.0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_text_and_everything_else_is_refused() {
        assert_eq!("10".parse::<VoucherId>().unwrap().to_string(), "10");
        let bad = [
            "",
            "0",
            "-1",
            "+1",
            "01",
            " 1",
            "1 ",
            "abc",
            "1;DROP",
            "1\0",
            "9223372036854775808",
            "1.5",
            "１",
        ];
        for text in bad {
            assert_eq!(text.parse::<VoucherId>(), Err(IdError), "{text:?}");
        }
    }

    #[test]
    fn r46_json_carries_ids_as_strings_and_refuses_numbers() {
        let id = OrderId::new(9_007_199_254_740_993).unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"9007199254740993\"");
        assert_eq!(
            serde_json::from_str::<OrderId>("\"9007199254740993\"").unwrap(),
            id
        );
        assert!(serde_json::from_str::<OrderId>("9007199254740993").is_err());
    }

    #[test]
    fn the_classic_layout_round_trips_at_its_ends() {
        assert_eq!(OrderId::compose(OrderId::EPOCH_SECONDS - 1, 1), None);
        assert_eq!(OrderId::compose(OrderId::EPOCH_SECONDS, 0), None);
        assert_eq!(OrderId::compose(OrderId::EPOCH_SECONDS + (1 << 31), 1), None);
        let last = OrderId::compose(OrderId::EPOCH_SECONDS + (1 << 31) - 1, u32::MAX).unwrap();
        assert_eq!(last.get(), i64::MAX);
        let id = OrderId::compose(1_796_073_486, 42).unwrap();
        assert_eq!((id.unix_seconds(), id.counter()), (1_796_073_486, 42));
    }
}
