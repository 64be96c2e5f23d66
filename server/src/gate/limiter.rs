//! How often one address may call this process.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    state::keyed::DashMapStateStore,
};

/// After this many calls, addresses whose bucket is full again are forgotten.
const FORGET_EVERY: u32 = 4096;

/// A bucket of tokens an address.
pub(super) struct AddressLimiter {
    buckets: RateLimiter<IpAddr, DashMapStateStore<IpAddr>, DefaultClock>,
    clock: DefaultClock,
    calls: AtomicU32,
}

impl AddressLimiter {
    /// `None` where nothing is limited.
    pub(super) fn new(per_second: f64, burst: u32) -> Option<Self> {
        if per_second <= 0.0 {
            return None;
        }
        let token_every = Duration::try_from_secs_f64(1.0 / per_second).ok()?;
        let quota = Quota::with_period(token_every)?.allow_burst(NonZeroU32::new(burst)?);
        let clock = DefaultClock::default();
        Some(Self {
            buckets: RateLimiter::new(quota, DashMapStateStore::default(), clock.clone()),
            clock,
            calls: AtomicU32::new(0),
        })
    }

    /// One call. `Some`: refused, a token is there after this long.
    pub(super) fn call(&self, address: IpAddr) -> Option<Duration> {
        if self.calls.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            self.buckets.retain_recent();
            self.buckets.shrink_to_fit();
        }
        let refused = self.buckets.check_key(&address).err()?;
        Some(refused.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_runs_hot_waits_and_others_do_not() {
        let limiter = AddressLimiter::new(1.0, 2).unwrap();
        let (hot, other) = ([9, 9, 9, 9].into(), [8, 8, 8, 8].into());
        assert_eq!((limiter.call(hot), limiter.call(hot)), (None, None));
        assert!(limiter.call(hot).unwrap() <= Duration::from_secs(1));
        assert_eq!(limiter.call(other), None);
        assert!(AddressLimiter::new(0.0, 2).is_none());
    }

    #[test]
    fn addresses_are_forgotten() {
        let limiter = AddressLimiter::new(1_000_000.0, 1).unwrap();
        for n in 0..200_000_u32 {
            limiter.call(IpAddr::from(n.to_be_bytes()));
        }
        assert!(limiter.buckets.len() <= 2 * FORGET_EVERY as usize);
    }
}
