//! Log lines: JSON or text, with the id of the call, and never with a phone number or a token.

use std::{
    fmt::{self, Write},
    io::IsTerminal,
};

use tracing::{Event, Subscriber};
use tracing_subscriber::{
    EnvFilter,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::{Writer, format},
    },
    registry::LookupSpan,
};

use crate::observe;

/// A session token's length; a run of its characters this long is not shown.
const TOKEN: usize = 43;

/// Logs to standard error from now on.
pub(crate) fn to_stderr(json: bool) {
    let filter = EnvFilter::try_from_env("SECKILL_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    if json {
        let lines = format()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false);
        log.json().event_format(Traced { lines, json }).init();
    } else {
        let ansi = std::io::stderr().is_terminal();
        let lines = format().with_ansi(ansi).with_target(false);
        log.with_ansi(ansi).event_format(Traced { lines, json }).init();
    }
}

/// Adds the id of the call to another format's lines, and takes out what must not stand there.
struct Traced<F> {
    lines: F,
    json: bool,
}

impl<S, N, F> FormatEvent<S, N> for Traced<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut to: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::new();
        self.lines.format_event(context, Writer::new(&mut line), event)?;
        let line = scrub(line.trim_end());
        let id = observe::with_id(str::to_owned);
        match (id, line.strip_prefix('{')) {
            (Some(id), Some(rest)) if self.json => writeln!(to, "{{\"request_id\":\"{id}\",{rest}"),
            (Some(id), _) => writeln!(to, "{line} request_id={id}"),
            (None, _) => writeln!(to, "{line}"),
        }
    }
}

/// Hides the middle of whatever looks like a phone number, and all of what looks like a token.
fn scrub(line: &str) -> String {
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(begin) = rest.find(|c: char| is_word(c)) {
        let (before, from) = rest.split_at(begin);
        let (word, after) = from.split_at(from.find(|c: char| !is_word(c)).unwrap_or(from.len()));
        clean.push_str(before);
        let b = word.as_bytes();
        if b.len() == 11 && b[0] == b'1' && (b'3'..=b'9').contains(&b[1]) && b.iter().all(u8::is_ascii_digit)
        {
            let _ = write!(clean, "{}****{}", &word[..3], &word[7..]);
        } else if b.len() == TOKEN {
            clean.push('…');
        } else {
            clean.push_str(word);
        }
        rest = after;
    }
    clean.push_str(rest);
    clean
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_phone_nor_token_stands_in_a_line() {
        assert_eq!(scrub("phone=13812345678, x"), "phone=138****5678, x");
        assert_eq!(scrub("code:13812345678"), "code:138****5678");
        assert_eq!(
            scrub("order 138123456789012 at 1764541234567"),
            "order 138123456789012 at 1764541234567"
        );
        assert_eq!(scrub(&format!("sid={};", "a".repeat(TOKEN))), "sid=…;");
        assert_eq!(scrub("库存 1380013800"), "库存 1380013800");
    }
}
