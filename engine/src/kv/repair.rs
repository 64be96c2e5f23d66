//! What recovery reads and mends: claims without an order, notes of unfinished stock changes, tries of an entry.

use domain::{OrderId, UserId, VoucherId};
use redis::AsyncCommands;

use super::{EntryId, Kv, KvError, Partition, keys::GROUP};

/// Claims looked at in one step of a scan.
const SCAN: usize = 500;

/// A stock change that was begun and neither committed nor aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangeNote {
    /// The change's id, an order id by its making.
    pub(crate) change: i64,
    /// Units.
    pub(crate) delta: i32,
}

impl Kv {
    /// One step of a scan over a sale's claims. A claim may come twice (R42). The next cursor is 0 at the end.
    pub(crate) async fn scan_claims(
        &self,
        voucher: VoucherId,
        cursor: u64,
    ) -> Result<(u64, Vec<(UserId, OrderId)>), KvError> {
        let (next, fields): (u64, Vec<(i64, i64)>) = redis::cmd("HSCAN")
            .arg(self.keys.claims(voucher))
            .arg(cursor)
            .arg("COUNT")
            .arg(SCAN)
            .query_async(&mut self.calm.clone())
            .await?;
        // The field that carries the epoch is no user.
        let claims = fields
            .into_iter()
            .filter_map(|(user, order)| Some((UserId::new(user).ok()?, OrderId::new(order).ok()?)));
        Ok((next, claims.collect()))
    }

    /// Queues an order again whose claim stands. `false`: the claim has changed meanwhile, or the order is held.
    pub(crate) async fn requeue(
        &self,
        voucher: VoucherId,
        epoch: i64,
        user: UserId,
        order: OrderId,
    ) -> Result<bool, KvError> {
        let code: i64 = self
            .scripts
            .requeue
            .key(self.keys.claims(voucher))
            .key(self.keys.partition(voucher).stream())
            .key(self.keys.partition(voucher).held())
            .arg(user.get())
            .arg(order.get())
            .arg(voucher.get())
            .arg(epoch)
            .invoke_async(&mut self.calm.clone())
            .await?;
        Ok(code == 1)
    }

    /// The unfinished stock changes of a sale.
    pub(crate) async fn change_notes(&self, voucher: VoucherId) -> Result<Vec<ChangeNote>, KvError> {
        let fields: Vec<(String, String)> = self.calm.clone().hgetall(self.keys.sale(voucher)).await?;
        let notes = fields.iter().filter_map(|(field, value)| {
            let change = field.strip_prefix("change:")?.parse().ok()?;
            Some(ChangeNote {
                change,
                delta: value.parse().ok()?,
            })
        });
        Ok(notes.collect())
    }

    /// How often each of these entries of `consumer` was delivered.
    pub(crate) async fn deliveries(
        &self,
        partition: Partition,
        consumer: &str,
        first: EntryId,
        last: EntryId,
        count: usize,
    ) -> Result<Vec<(EntryId, u64)>, KvError> {
        let rows: Vec<(String, String, u64, u64)> = redis::cmd("XPENDING")
            .arg(partition.stream())
            .arg(GROUP)
            .arg(first.to_string())
            .arg(last.to_string())
            .arg(count)
            .arg(consumer)
            .query_async(&mut self.calm.clone())
            .await?;
        rows.into_iter()
            .map(|(id, _, _, deliveries)| Ok((id.parse()?, deliveries)))
            .collect()
    }

    /// Counts a try to settle an entry alone; returns how many there were, this one included.
    pub(crate) async fn count_try(&self, partition: Partition, entry: EntryId) -> Result<u64, KvError> {
        Ok(self
            .calm
            .clone()
            .hincr(partition.tries(), entry.to_string(), 1)
            .await?)
    }

    /// Forgets the tries of an entry that is settled or held.
    pub(crate) async fn forget_tries(&self, partition: Partition, entry: EntryId) -> Result<(), KvError> {
        Ok(self
            .calm
            .clone()
            .hdel(partition.tries(), entry.to_string())
            .await?)
    }

    /// Removes consumers that have been gone for `idle_ms` and hold nothing. Returns how many.
    pub(crate) async fn drop_consumers(
        &self,
        partition: Partition,
        own: &str,
        idle_ms: u64,
    ) -> Result<u64, KvError> {
        Ok(self
            .scripts
            .drop_consumers
            .key(partition.stream())
            .arg(GROUP)
            .arg(idle_ms)
            .arg(own)
            .invoke_async(&mut self.calm.clone())
            .await?)
    }

    /// The oldest entry of a partition; `None` when it is empty.
    pub(crate) async fn oldest_entry(&self, partition: Partition) -> Result<Option<EntryId>, KvError> {
        let first: redis::Value = redis::cmd("XRANGE")
            .arg(partition.stream())
            .arg(&["-", "+", "COUNT", "1"])
            .query_async(&mut self.calm.clone())
            .await?;
        Ok(super::stream::entries_of(first)?.first().map(|(id, _)| *id))
    }
}
