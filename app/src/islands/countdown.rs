//! The countdown: one text in tabular figures.

use leptos::prelude::*;

use super::live_sale::LiveSale;

/// Rounded up, so that it shows zero only when it is zero.
fn clock_text(remaining_ms: i64, day: &str) -> String {
    let seconds = (remaining_ms.max(0) + 999) / 1000;
    let (days, hours, minutes, seconds) = (
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    );
    if days > 0 {
        format!("{days} {day} {hours:02}:{minutes:02}:{seconds:02}")
    } else {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}

/// What is counted, and the time that is left.
pub(super) fn countdown(sale: LiveSale) -> impl IntoView {
    view! {
        <p class="countdown" role="timer" aria-live="off">
            <span class="counted">{move || sale.counted()}</span>
            " "
            <span class="digits">{move || clock_text(sale.remaining(), sale.texts.day)}</span>
        </p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_zero_only_at_zero() {
        assert_eq!(clock_text(0, "d"), "00:00:00");
        assert_eq!(clock_text(1, "d"), "00:00:01");
        assert_eq!(clock_text(1000, "d"), "00:00:01");
        assert_eq!(clock_text(3_599_001, "d"), "01:00:00");
        assert_eq!(clock_text(90_061_000, "d"), "1 d 01:01:01");
        assert_eq!(clock_text(-5, "d"), "00:00:00");
    }
}
