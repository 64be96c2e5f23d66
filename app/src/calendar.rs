//! The opening of a sale for people's calendars, as an iCalendar file.

use domain::{Timestamp, Voucher};

/// How long before the opening a calendar reminds.
const REMINDER: &str = "-PT5M";
/// Lines are folded after this many bytes.
const FOLD: usize = 73;

/// The file. `site` is the shop's host.
pub fn file(voucher: &Voucher, site: &str, now: Timestamp) -> String {
    let (id, title) = (voucher.id, escaped(&voucher.title));
    let lines = [
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//flash sale//EN".to_owned(),
        "BEGIN:VEVENT".to_owned(),
        format!("UID:voucher-{id}@{site}"),
        format!("DTSTAMP:{}", utc(now)),
        format!("DTSTART:{}", utc(voucher.begins_at)),
        format!("DTEND:{}", utc(voucher.ends_at)),
        format!("SUMMARY:{title}"),
        "BEGIN:VALARM".to_owned(),
        "ACTION:DISPLAY".to_owned(),
        format!("DESCRIPTION:{title}"),
        format!("TRIGGER:{REMINDER}"),
        "END:VALARM".to_owned(),
        "END:VEVENT".to_owned(),
        "END:VCALENDAR".to_owned(),
    ];
    lines.iter().map(|line| folded(line) + "\r\n").collect()
}

/// `20261130T200000Z`
fn utc(at: Timestamp) -> String {
    let digits: String = at.to_string()[..19]
        .chars()
        .filter(|char| !matches!(char, '-' | ':'))
        .collect();
    digits + "Z"
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' | ',' | ';' => escaped.extend(['\\', char]),
            char if char.is_control() => escaped.push(' '),
            char => escaped.push(char),
        }
    }
    escaped
}

fn folded(line: &str) -> String {
    let mut folded = String::with_capacity(line.len());
    let mut length = 0;
    for char in line.chars() {
        if length + char.len_utf8() > FOLD {
            folded.push_str("\r\n ");
            length = 1;
        }
        folded.push(char);
        length += char.len_utf8();
    }
    folded
}

#[cfg(test)]
mod tests {
    use domain::{SaleState, VoucherId};

    use super::*;

    #[test]
    fn a_title_stays_one_property_however_it_is_written() {
        let voucher = Voucher {
            id: VoucherId::new(10).unwrap(),
            title: "A, b; c\\d\r\nEND:VCALENDAR ".to_owned() + &"秒杀".repeat(20),
            sub_title: String::new(),
            rules: String::new(),
            pay_value: 1,
            actual_value: 1,
            stock: 1,
            held: false,
            initial_stock: 1,
            state: SaleState::Scheduled,
            begins_at: Timestamp::from_millis(1_796_068_800_000),
            ends_at: Timestamp::from_millis(1_796_072_400_000),
        };
        let file = file(
            &voucher,
            "shop.example",
            Timestamp::from_millis(1_796_000_000_000),
        );
        assert!(file.split("\r\n").all(|line| line.len() <= 75));
        let whole = file.replace("\r\n ", "");
        assert!(
            whole.contains("\r\nDTSTART:20261130T200000Z\r\nDTEND:20261130T210000Z\r\n"),
            "{whole}"
        );
        assert!(
            whole.contains("SUMMARY:A\\, b\\; c\\\\d  END:VCALENDAR 秒杀"),
            "{whole}"
        );
        assert_eq!(whole.matches("\r\nEND:VCALENDAR").count(), 1);
    }
}
