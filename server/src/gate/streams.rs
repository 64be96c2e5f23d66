//! How many event streams are open: in all, of one session, from one address.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use prometheus_client::metrics::gauge::Gauge;

/// Who holds a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    /// A session, or whatever a cookie claims to be one.
    Session(u64),
    /// An address.
    Address(IpAddr),
}

/// The streams of a process.
pub(super) struct Streams {
    most: i64,
    of_session: u32,
    of_address: u32,
    chance: RandomState,
    open: Gauge,
    held: Mutex<HashMap<Holder, u32>>,
}

impl Streams {
    pub(super) fn new(most: u32, of_session: u32, of_address: u32, open: Gauge) -> Self {
        Self {
            most: most.into(),
            of_session,
            of_address,
            chance: RandomState::new(),
            open,
            held: Mutex::default(),
        }
    }

    /// A place for a stream; it is free again when the place is dropped. `None`: too many are open.
    pub(super) fn enter(self: &Arc<Self>, session: Option<&str>, address: Option<IpAddr>) -> Option<Place> {
        let mut place = Place {
            streams: self.clone(),
            holders: [None, None],
        };
        if self.open.inc() >= self.most {
            return None;
        }
        let session = session.map(|token| Holder::Session(self.chance.hash_one(token)));
        let wanted = [
            (session, self.of_session),
            (address.map(Holder::Address), self.of_address),
        ];
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |(holder, most): &(Option<Holder>, u32)| {
            holder.is_some_and(|holder| held.get(&holder).is_some_and(|n| n >= most))
        };
        if wanted.iter().any(full) {
            drop(held);
            return None;
        }
        place.holders = wanted.map(|(holder, _)| holder);
        for holder in place.holders.into_iter().flatten() {
            *held.entry(holder).or_default() += 1;
        }
        drop(held);
        Some(place)
    }
}

/// An open stream's place.
pub(super) struct Place {
    streams: Arc<Streams>,
    holders: [Option<Holder>; 2],
}

impl Place {
    /// The body holds the place for as long as it lives.
    pub(super) fn hold_in(self, body: Body) -> Body {
        Body::new(Held { body, _place: self })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.streams.open.dec();
        let mut held = self.streams.held.lock().unwrap_or_else(PoisonError::into_inner);
        for holder in self.holders.into_iter().flatten() {
            if let Some(n) = held.get_mut(&holder) {
                *n -= 1;
                if *n == 0 {
                    held.remove(&holder);
                }
            }
        }
    }
}

struct Held {
    body: Body,
    _place: Place,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_by_session_by_address_and_in_all_and_come_back() {
        let open = Gauge::default();
        let streams = Arc::new(Streams::new(4, 2, 3, open.clone()));
        let home = Some(IpAddr::from([9, 9, 9, 9]));
        let enter = |session, address| streams.enter(session, address);
        let mine = [enter(Some("a"), home).unwrap(), enter(Some("a"), home).unwrap()];
        assert!(enter(Some("a"), None).is_none(), "two of a session");
        let third = enter(Some("b"), home).unwrap();
        assert!(enter(Some("c"), home).is_none(), "three from an address");
        let fourth = enter(None, None).unwrap();
        assert!(enter(None, None).is_none(), "four in all");
        assert_eq!(open.get(), 4);
        drop((mine, third, fourth));
        assert_eq!(open.get(), 0);
        assert!(streams.held.lock().unwrap().is_empty());
    }
}
