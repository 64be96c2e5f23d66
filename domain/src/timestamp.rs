//! Points in time: milliseconds inside, RFC 3339 UTC in JSON.

use std::{fmt, ops, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// Why a text or a number is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a time is written as RFC 3339 with its zone, like 2026-11-30T20:00:00Z, from 2000 to 2099")]
pub struct TimestampError;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime, example = "2026-11-30T20:00:00.000Z"))]
pub struct Timestamp(i64);

impl Timestamp {
    /// From Unix milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Unix milliseconds.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole Unix seconds.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The calendar day in UTC, as year, month and day.
    pub fn day(self) -> (i32, u8, u8) {
        let date = OffsetDateTime::from(self).date();
        (date.year(), date.month().into(), date.day())
    }
}

impl ops::Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl ops::Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl From<Timestamp> for OffsetDateTime {
    /// Times outside of what the calendar can hold become 1970: `FromStr` lets none in.
    fn from(at: Timestamp) -> Self {
        Self::from_unix_timestamp_nanos(i128::from(at.0) * 1_000_000).unwrap_or(Self::UNIX_EPOCH)
    }
}

impl From<OffsetDateTime> for Timestamp {
    /// Drops what is below a millisecond.
    fn from(at: OffsetDateTime) -> Self {
        Self(i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format =
            format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
        let text = OffsetDateTime::from(*self)
            .format(format)
            .map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| TimestampError)?;
        if (2000..2100).contains(&at.year()) {
            Ok(at.into())
        } else {
            Err(TimestampError)
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_trip_as_utc_and_keep_milliseconds() {
        let at: Timestamp = "2026-11-30T21:00:00.5+01:00".parse().unwrap();
        assert_eq!(at.to_string(), "2026-11-30T20:00:00.500Z");
        assert_eq!(at.to_string().parse(), Ok(at));
        assert_eq!(at.day(), (2026, 11, 30));
    }

    #[test]
    fn what_has_no_zone_or_lies_outside_our_calendar_is_refused() {
        for text in [
            "yesterday",
            "2026-11-30",
            "2026-11-30T20:00:00",
            "1999-12-31T23:59:59Z",
            "2100-01-01T00:00:00Z",
            "",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
    }
}
