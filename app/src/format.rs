//! Values as people and addresses write them.

use std::fmt::Write;

use domain::Timestamp;

/// Cents as `¥47.50`; whole amounts without decimals.
pub(crate) fn money(cents: i64) -> String {
    let (whole, part) = (crate::texts::grouped(cents / 100), cents.rem_euclid(100));
    if part == 0 {
        format!("¥{whole}")
    } else {
        format!("¥{whole}.{part:02}")
    }
}

/// `2026-11-30 20:00 UTC`; with seconds where they are not zero.
pub(crate) fn utc(at: Timestamp) -> String {
    let text = at.to_string();
    let (day, rest) = text.split_at(10);
    let (minutes, seconds) = (&rest[1..6], &rest[6..9]);
    let seconds = if seconds == ":00" { "" } else { seconds };
    format!("{day} {minutes}{seconds} UTC")
}

/// The value of a `datetime-local` field, in UTC, to the minute.
pub(crate) fn utc_field(at: Timestamp) -> String {
    at.to_string()[..16].to_owned()
}

/// A value within the query of an address.
pub(crate) fn query_escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:,".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Undoes [`query_escaped`]; what is broken becomes a replacement character.
pub(crate) fn query_unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = bytes
            .get(at + 1..at + 3)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                plain.push(byte);
                at += 3;
            }
            _ => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_and_times_read_well() {
        assert_eq!(money(4750), "¥47.50");
        assert_eq!(money(500_000), "¥5,000");
        assert_eq!(
            utc(Timestamp::from_millis(1_796_068_800_000)),
            "2026-11-30 20:00 UTC"
        );
        assert_eq!(
            utc(Timestamp::from_millis(1_796_068_805_500)),
            "2026-11-30 20:00:05 UTC"
        );
        assert_eq!(
            utc_field(Timestamp::from_millis(1_796_068_805_500)),
            "2026-11-30T20:00"
        );
    }

    #[test]
    fn what_is_escaped_comes_back() {
        for text in ["", "/vouchers/10", "a b&c=d%", "秒杀 100%", "<script>\"'"] {
            let escaped = query_escaped(text);
            assert!(
                escaped
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b'&'),
                "{escaped}"
            );
            assert_eq!(query_unescaped(&escaped), text);
        }
        assert_eq!(query_unescaped("%zz%"), "%zz%");
    }
}
