//! How many connections are open: in all, and from one address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use ipnet::IpNet;
use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};

use crate::gate::of_peer;

/// What is counted about connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    open: Gauge,
    refused: Counter,
}

impl Counts {
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let counts = Self::default();
        registry.register(
            "seckill_connections_open",
            "Connections open",
            counts.open.clone(),
        );
        registry.register(
            "seckill_connections_refused",
            "Connections closed at once because too many were open",
            counts.refused.clone(),
        );
        counts
    }
}

/// The places of a process.
pub(crate) struct Places {
    most: usize,
    /// One household must not take all places. Proxies of ours may: they limit for themselves.
    of_address: usize,
    trusted: Vec<IpNet>,
    counts: Counts,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

impl Places {
    pub(crate) fn new(most: usize, of_address: usize, trusted: Vec<IpNet>, counts: Counts) -> Self {
        Self {
            most,
            of_address,
            trusted,
            counts,
            held: Mutex::default(),
        }
    }

    /// A place for a connection; it is free again when the place is dropped. `None`: there is none.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let address = of_peer(peer, &self.trusted);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let crowded = address.is_some_and(|address| {
            let of_address = held.by_address.get(&address).copied().unwrap_or(0);
            of_address >= self.of_address
        });
        if crowded || held.all >= self.most {
            drop(held);
            self.counts.refused.inc();
            return None;
        }
        held.all += 1;
        if let Some(address) = address {
            *held.by_address.entry(address).or_default() += 1;
        }
        drop(held);
        self.counts.open.inc();
        Some(Place {
            places: self.clone(),
            address,
        })
    }
}

/// An open connection's place.
pub(crate) struct Place {
    places: Arc<Places>,
    address: Option<IpAddr>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.counts.open.dec();
        let mut held = self.places.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= 1;
        if let Some(address) = self.address
            && let Some(of_address) = held.by_address.get_mut(&address)
        {
            *of_address -= 1;
            if *of_address == 0 {
                held.by_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_does_not_take_all_places_and_a_proxy_may() {
        let trusted = vec!["10.0.0.0/8".parse().unwrap()];
        let places = Arc::new(Places::new(5, 2, trusted, Counts::default()));
        let take = |peer: &str| places.take(peer.parse().unwrap());
        let greedy = [take("9.9.9.9"), take("9.9.9.9")];
        assert!(greedy.iter().all(Option::is_some));
        assert!(take("9.9.9.9").is_none() && take("::ffff:9.9.9.9").is_none());
        let proxy = [take("10.0.0.1"), take("10.0.0.1"), take("10.0.0.1")];
        assert!(proxy.iter().all(Option::is_some));
        assert!(take("8.8.8.8").is_none(), "five in all");
        drop((greedy, proxy));
        assert!(take("9.9.9.9").is_some());
    }
}
