//! What to send and how to read the answers: a small file, so that any seckill server can stand beside ours.

use std::{collections::BTreeMap, net::SocketAddr, path::Path};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{
    Person,
    template::{Template, digits, pair},
};

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// A unit was granted.
    Accepted,
    /// No unit was left.
    SoldOut,
    /// The shopper had one already.
    Duplicate,
    /// Anything else: counted by status.
    Other,
}

/// A target file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default = "post")]
    method: String,
    /// `http://host:port/path`, with holes in the path.
    url: String,
    /// `name: value` lines, with holes.
    #[serde(default)]
    headers: Vec<String>,
    /// With holes.
    #[serde(default)]
    body: String,
    #[serde(default)]
    accepted: Vec<Rule>,
    #[serde(default)]
    sold_out: Vec<Rule>,
    #[serde(default)]
    duplicate: Vec<Rule>,
}

/// An answer fits a rule if everything that the rule names is so.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    status: Option<u16>,
    /// Text within the body.
    contains: Option<String>,
    /// A JSON pointer and the value there.
    #[serde(default)]
    json: BTreeMap<String, serde_json::Value>,
}

/// A compiled target.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Where to connect.
    pub(crate) address: SocketAddr,
    /// Up to the line with the length of the body.
    head: Template,
    body: Template,
    rules: Vec<(Verdict, Rule)>,
}

fn post() -> String {
    "POST".into()
}

impl Target {
    /// Reads a target file; `set` are `name=value` pairs for its own holes.
    pub(crate) fn read(file: &Path, set: &[String]) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
        let fixed = set.iter().map(|text| pair(text)).collect::<Result<_>>()?;
        Self::parse(&text, &fixed).with_context(|| format!("{} is no target file", file.display()))
    }

    /// Parses a target file's text.
    pub(crate) fn parse(text: &str, fixed: &BTreeMap<String, String>) -> Result<Self> {
        let file: File = toml::from_str(text)?;
        // Filled before it is cut up: a set value may hold a part of the path.
        let url = fixed.iter().fold(file.url, |url, (name, value)| {
            url.replace(&format!("{{{name}}}"), value)
        });
        let rest = url
            .strip_prefix("http://")
            .context("the URL is to begin with http://")?;
        let authority = rest.split('/').next().unwrap_or_default().to_owned();
        let address = std::net::ToSocketAddrs::to_socket_addrs(&authority.as_str())
            .with_context(|| format!("{authority}: not host:port"))?
            .find(SocketAddr::is_ipv4)
            .with_context(|| format!("{authority} has no IPv4 address"))?;
        if !address.ip().is_loopback() {
            bail!("{authority} is not this machine: load stays on loopback");
        }
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        let mut head = format!("{} /{path} HTTP/1.1\r\nhost: {authority}\r\n", file.method);
        for line in &file.headers {
            head.push_str(line.trim());
            head.push_str("\r\n");
        }
        let rules = [
            (Verdict::Accepted, file.accepted),
            (Verdict::SoldOut, file.sold_out),
            (Verdict::Duplicate, file.duplicate),
        ];
        let mut target = Self {
            address,
            head: Template::parse(&head, fixed)?,
            body: Template::parse(&file.body, fixed)?,
            rules: rules
                .into_iter()
                .flat_map(|(verdict, rules)| rules.into_iter().map(move |rule| (verdict, rule)))
                .collect(),
        };
        if let Some(length) = target.body.fixed_length() {
            let end = format!("content-length: {length}\r\n\r\n");
            target.head.join(Template::parse(&end, fixed)?);
        }
        Ok(target)
    }

    /// Writes the request of attempt `number`.
    pub(crate) fn render(&self, person: &Person, number: u64, out: &mut Vec<u8>) {
        out.clear();
        self.head.fill(person, number, out);
        if self.body.fixed_length().is_some() {
            self.body.fill(person, number, out);
        } else {
            let mut body = Vec::new();
            self.body.fill(person, number, &mut body);
            out.extend_from_slice(b"content-length: ");
            digits(body.len() as u64, out);
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(&body);
        }
    }

    /// What an answer means: the first rule that fits.
    pub(crate) fn judge(&self, status: u16, body: &[u8]) -> Verdict {
        self.rules
            .iter()
            .find(|(_, rule)| rule.fits(status, body))
            .map_or(Verdict::Other, |(verdict, _)| *verdict)
    }
}

impl Rule {
    fn fits(&self, status: u16, body: &[u8]) -> bool {
        if self.status.is_some_and(|wanted| wanted != status) {
            return false;
        }
        if let Some(text) = &self.contains
            && memchr::memmem::find(body, text.as_bytes()).is_none()
        {
            return false;
        }
        if self.json.is_empty() {
            return true;
        }
        let Ok(json) = serde_json::from_slice::<serde_json::Value>(body) else {
            return false;
        };
        self.json
            .iter()
            .all(|(pointer, wanted)| json.pointer(pointer) == Some(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HMDP: &str = r#"
        url = "http://127.0.0.1:8081/voucher-order/seckill/{voucher}"
        headers = ["authorization: {token}"]
        [[accepted]]
        json = { "/success" = true }
        [[sold_out]]
        contains = "库存不足"
        [[duplicate]]
        contains = "不能重复下单"
    "#;

    #[test]
    fn a_target_file_says_what_to_send_and_what_answers_mean() {
        let fixed = BTreeMap::from([("voucher".to_owned(), "10".to_owned())]);
        let target = Target::parse(HMDP, &fixed).unwrap();
        let mut request = Vec::new();
        let person = Person {
            user: 7,
            token: "secret".into(),
        };
        target.render(&person, 0, &mut request);
        let text = String::from_utf8(request).unwrap();
        assert!(text.starts_with("POST /voucher-order/seckill/10 HTTP/1.1\r\nhost: 127.0.0.1:8081\r\n"));
        assert!(text.ends_with("authorization: secret\r\ncontent-length: 0\r\n\r\n"));
        assert_eq!(target.judge(200, br#"{"success":true}"#), Verdict::Accepted);
        assert_eq!(
            target.judge(200, r#"{"success":false,"errorMsg":"库存不足"}"#.as_bytes()),
            Verdict::SoldOut
        );
        assert_eq!(target.judge(500, b"?"), Verdict::Other);
    }

    #[test]
    fn other_machines_are_not_loaded() {
        assert!(Target::parse("url = 'http://192.0.2.1:80/'", &BTreeMap::new()).is_err());
    }
}
