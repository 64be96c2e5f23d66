//! Just enough HTTP/1.1 to read an answer.

use anyhow::{Result, bail};

/// Headers in an answer, at most.
const HEADERS: usize = 48;

/// A complete answer within a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Where its body lies; for a chunked body the raw chunks, which is enough to look for a text.
    pub(super) body: std::ops::Range<usize>,
    /// Where the answer ends.
    pub(super) end: usize,
    /// The server closes the connection after it.
    pub(super) closes: bool,
}

/// Reads the answer at the front of `buffer`; `None` when more has to come.
pub(super) fn parse(buffer: &[u8]) -> Result<Option<Answer>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(buffer)? else {
        return Ok(None);
    };
    let status = response.code.unwrap_or_default();
    let mut length = None;
    let (mut chunked, mut closes) = (false, response.version == Some(0));
    for header in response.headers.iter() {
        // Lengths first: most names are told apart by theirs.
        match header.name.len() {
            14 if header.name.eq_ignore_ascii_case("content-length") => {
                length = std::str::from_utf8(header.value)
                    .ok()
                    .and_then(|text| text.trim().parse::<usize>().ok());
            }
            17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                chunked = header.value.eq_ignore_ascii_case(b"chunked");
            }
            10 if header.name.eq_ignore_ascii_case("connection") => {
                closes = header.value.eq_ignore_ascii_case(b"close");
            }
            _ => {}
        }
    }
    let end = if chunked {
        match chunks_end(buffer, head)? {
            Some(end) => end,
            None => return Ok(None),
        }
    } else if let Some(length) = length {
        head + length
    } else if status == 204 || status == 304 {
        head
    } else {
        bail!("an answer without a length");
    };
    Ok((buffer.len() >= end).then_some(Answer {
        status,
        body: head..end,
        end,
        closes,
    }))
}

/// The end of a chunked body that begins at `at`, trailers excluded: no server here sends any.
fn chunks_end(buffer: &[u8], mut at: usize) -> Result<Option<usize>> {
    loop {
        match httparse::parse_chunk_size(&buffer[at.min(buffer.len())..]) {
            Ok(httparse::Status::Complete((line, size))) => {
                at += line + usize::try_from(size)? + 2;
                if size == 0 {
                    return Ok((buffer.len() >= at).then_some(at));
                }
            }
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => bail!("a broken chunk"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_complete_when_its_body_is() {
        let whole = b"HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nhi";
        assert_eq!(parse(&whole[..whole.len() - 1]).unwrap(), None);
        let answer = parse(whole).unwrap().unwrap();
        assert_eq!(
            (answer.status, &whole[answer.body], answer.closes),
            (202, &b"hi"[..], false)
        );
    }

    #[test]
    fn chunks_are_followed_to_their_end() {
        let whole =
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
        for n in 0..whole.len() {
            assert_eq!(parse(&whole[..n]).unwrap(), None, "{n}");
        }
        let answer = parse(whole).unwrap().unwrap();
        assert_eq!((answer.end, answer.closes), (whole.len(), true));
    }
}
