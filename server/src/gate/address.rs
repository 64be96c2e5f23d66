//! Whose address a call comes from, behind proxies too.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// The address to count a connection under. `None`: a trusted machine's.
pub(crate) fn of_peer(peer: IpAddr, trusted: &[IpNet]) -> Option<IpAddr> {
    client(peer, &HeaderMap::new(), trusted)
}

/// The address to count a call under: the peer's, or behind trusted proxies the rightmost hop that is not one of them.
/// Whatever stands further left was written by the client itself. `None`: a trusted machine's own call.
pub(super) fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let peer = peer.to_canonical();
    if !is_trusted(&peer) {
        return Some(group(peer));
    }
    let lines: Vec<&str> = headers
        .get_all("x-forwarded-for")
        .iter()
        .map(|line| line.to_str().unwrap_or(""))
        .collect();
    let mut nearest = None;
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        let Some(address) = read(hop.trim()) else { break };
        nearest = Some(address);
        if !is_trusted(&address) {
            break;
        }
    }
    nearest.map(group)
}

fn read(hop: &str) -> Option<IpAddr> {
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    let address = bare
        .parse::<IpAddr>()
        .ok()
        .or_else(|| Some(hop.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address| address.to_canonical())
}

/// One household has a whole /64 of IPv6.
fn group(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn found(peer: &str, forwarded: &[&'static str]) -> Option<String> {
        let trusted: Vec<IpNet> = vec!["127.0.0.0/8".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_static(line));
        }
        client(peer.parse().unwrap(), &headers, &trusted).map(|address| address.to_string())
    }

    #[test]
    fn the_rightmost_untrusted_hop_counts_and_never_what_the_client_wrote() {
        assert_eq!(found("127.0.0.1", &[]), None, "a local tool");
        assert_eq!(found("127.0.0.1", &["9.9.9.9"]).unwrap(), "9.9.9.9");
        assert_eq!(
            found("127.0.0.1", &["1.1.1.1, 9.9.9.9, 10.0.0.5"]).unwrap(),
            "9.9.9.9"
        );
        assert_eq!(found("127.0.0.1", &["1.1.1.1", "9.9.9.9"]).unwrap(), "9.9.9.9");
        assert_eq!(
            found("127.0.0.1", &["1.1.1.1, nonsense, 10.0.0.5"]).unwrap(),
            "10.0.0.5"
        );
        assert_eq!(
            found("8.8.8.8", &["9.9.9.9"]).unwrap(),
            "8.8.8.8",
            "not a proxy of ours"
        );
        assert_eq!(found("::ffff:127.0.0.1", &["9.9.9.9:4711"]).unwrap(), "9.9.9.9");
        assert_eq!(
            found("127.0.0.1", &["2001:db8:1:2:3::4"]).unwrap(),
            "2001:db8:1:2::"
        );
    }
}
