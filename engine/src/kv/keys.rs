//! Every key, built in one place. The names are the field's own; the part in braces is a Cluster hash tag, so that all
//! keys of a partition share a slot.

use domain::{Phone, Timestamp, UserId, VoucherId};

use super::TokenHash;

/// The consumer group, as in the teaching project.
pub(crate) const GROUP: &str = "g1";
/// The channel on which processes tell each other what happened.
pub(crate) const NEWS: &str = "seckill:news";

/// Present in a shop that was started in demo mode; a shop with real shoppers never has it.
pub(crate) const DEMO: &str = "seckill:demo";

/// One part of the key space, with a stream of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Partition(u16);

impl Partition {
    /// Queued orders.
    pub(crate) fn stream(self) -> String {
        format!("stream.orders:{{p{}}}", self.0)
    }

    /// Tries to settle an entry alone: entry id → tries.
    pub(crate) fn tries(self) -> String {
        format!("settle.tries:{{p{}}}", self.0)
    }

    /// Orders that are held for an operator: order id → entry id.
    pub(crate) fn held(self) -> String {
        format!("settle.held:{{p{}}}", self.0)
    }

    /// What could not be settled.
    pub(crate) fn dead(self) -> String {
        format!("stream.dead:{{p{}}}", self.0)
    }

    /// Its number, for metrics and logs.
    pub(crate) const fn number(self) -> u16 {
        self.0
    }
}

/// Builds keys for a number of partitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    partitions: u16,
}

impl Keys {
    /// For `partitions` partitions; none counts as one.
    pub(crate) fn new(partitions: u16) -> Self {
        Self {
            partitions: partitions.max(1),
        }
    }

    /// All partitions.
    pub(crate) fn partitions(self) -> impl Iterator<Item = Partition> {
        (0..self.partitions).map(Partition)
    }

    /// Where a voucher lives.
    pub(crate) fn partition(self, voucher: VoucherId) -> Partition {
        let slot = voucher.get() % i64::from(self.partitions);
        Partition(u16::try_from(slot).unwrap_or(0))
    }

    /// Units left.
    pub(crate) fn stock(self, voucher: VoucherId) -> String {
        format!("seckill:stock:{voucher}:{{p{}}}", self.partition(voucher).0)
    }

    /// Claims: user id → order id.
    pub(crate) fn claims(self, voucher: VoucherId) -> String {
        format!("seckill:order:{voucher}:{{p{}}}", self.partition(voucher).0)
    }

    /// Claims that are being gathered by the rebuild with this number.
    pub(crate) fn staged_claims(self, voucher: VoucherId, rebuild: u64) -> String {
        format!(
            "seckill:order:{voucher}:staged:{rebuild}:{{p{}}}",
            self.partition(voucher).0
        )
    }

    /// Window, state and epoch.
    pub(crate) fn sale(self, voucher: VoucherId) -> String {
        format!("seckill:sale:{voucher}:{{p{}}}", self.partition(voucher).0)
    }
}

/// The order-id counter of a day (UTC).
pub(crate) fn order_counter(at: Timestamp) -> String {
    let (year, month, day) = at.day();
    format!("icr:order:{year}:{month:02}:{day:02}")
}

/// A lock; its fence lies in the same slot.
pub(crate) fn lock(name: &str) -> String {
    format!("lock:{{{name}}}")
}

/// The counter of a lock's holders.
pub(crate) fn lock_fence(name: &str) -> String {
    format!("lock:fence:{{{name}}}")
}

/// The one-time code of a phone.
pub(crate) fn code(phone: &Phone) -> String {
    format!("login:code:{}", phone.as_str())
}

/// A session. The token itself is never stored.
pub(crate) fn session(token: &TokenHash) -> String {
    format!("login:token:{token}")
}

/// The sessions of a user: token hash → when it was last noted (s). Only for ending them all.
pub(crate) fn sessions_of(user: UserId) -> String {
    format!("login:user:{user}")
}

/// A bucket of tokens.
pub(crate) fn rate(kind: &str, whose: &impl std::fmt::Display) -> String {
    format!("rate:{kind}:{whose}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r40_all_keys_of_a_sale_and_its_stream_share_a_hash_tag() {
        let keys = Keys::new(4);
        let voucher = VoucherId::new(10).unwrap();
        let partition = keys.partition(voucher);
        let all = [
            keys.stock(voucher),
            keys.claims(voucher),
            keys.staged_claims(voucher, 7),
            keys.sale(voucher),
            partition.stream(),
            partition.dead(),
        ];
        assert_eq!(all[0], "seckill:stock:10:{p2}");
        assert!(all.iter().all(|key| key.ends_with("{p2}")), "{all:?}");
    }

    #[test]
    fn the_counter_has_a_key_a_day() {
        assert_eq!(
            order_counter("2026-11-30T23:59:59.999Z".parse().unwrap()),
            "icr:order:2026:11:30"
        );
    }
}
