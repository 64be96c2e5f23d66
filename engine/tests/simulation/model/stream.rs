//! The stream and its consumer group.

use super::{Order, User};

/// A queued order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Place in the stream; like an entry's time, it never goes back.
    pub(crate) seq: u64,
    pub(crate) user: User,
    pub(crate) order: Order,
    pub(crate) epoch: i64,
}

/// The group, or the whole stream, is gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoGroup;

/// What was delivered and not acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pending {
    seq: u64,
    consumer: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Group {
    delivered: u64,
    pending: Vec<Pending>,
}

/// A stream with at most one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stream {
    pub(crate) entries: Vec<Entry>,
    pub(crate) last_seq: u64,
    group: Option<Group>,
}

impl Stream {
    /// XADD.
    pub(crate) fn add(&mut self, user: User, order: Order, epoch: i64) {
        self.last_seq += 1;
        let seq = self.last_seq;
        self.entries.push(Entry {
            seq,
            user,
            order,
            epoch,
        });
    }

    /// DEL. Time goes on: later entries have later places.
    pub(crate) fn delete(&mut self) {
        self.entries.clear();
        self.group = None;
    }

    /// XGROUP DESTROY.
    pub(crate) fn destroy_group(&mut self) {
        self.group = None;
    }

    /// XGROUP CREATE … 0 MKSTREAM; a group that is there stays.
    pub(crate) fn ensure_group(&mut self) {
        self.group.get_or_insert_default();
    }

    /// XREADGROUP with the id 0: the consumer's own pending entries.
    pub(crate) fn own_pending(&self, consumer: u8, count: usize) -> Result<Vec<Entry>, NoGroup> {
        let group = self.group.as_ref().ok_or(NoGroup)?;
        let own = |entry: &&Entry| {
            group
                .pending
                .iter()
                .any(|pending| pending.seq == entry.seq && pending.consumer == consumer)
        };
        Ok(self.entries.iter().filter(own).take(count).copied().collect())
    }

    /// XREADGROUP with the id >: entries that nobody has seen.
    pub(crate) fn fresh(&mut self, consumer: u8, count: usize) -> Result<Vec<Entry>, NoGroup> {
        let group = self.group.as_mut().ok_or(NoGroup)?;
        let mut fresh = Vec::new();
        for entry in &self.entries {
            if entry.seq > group.delivered && fresh.len() < count {
                fresh.push(*entry);
            }
        }
        for entry in &fresh {
            group.delivered = entry.seq;
            let seq = entry.seq;
            group.pending.push(Pending { seq, consumer });
        }
        Ok(fresh)
    }

    /// XAUTOCLAIM: takes over pending entries that `idle` says were left for too long.
    pub(crate) fn claim(
        &mut self,
        consumer: u8,
        mut idle: impl FnMut() -> bool,
    ) -> Result<Vec<Entry>, NoGroup> {
        let group = self.group.as_mut().ok_or(NoGroup)?;
        let mut claimed = Vec::new();
        for pending in &mut group.pending {
            if idle() {
                pending.consumer = consumer;
                claimed.extend(self.entries.iter().find(|entry| entry.seq == pending.seq));
            }
        }
        Ok(claimed)
    }

    /// XACK and XDEL in one MULTI. Somebody else's entries are acknowledged as well; what is gone is no error.
    pub(crate) fn finish(&mut self, entries: &[Entry]) {
        let named = |seq: u64| entries.iter().any(|entry| entry.seq == seq);
        if let Some(group) = &mut self.group {
            group.pending.retain(|pending| !named(pending.seq));
        }
        self.entries.retain(|entry| !named(entry.seq));
    }

    /// Entries that were delivered and not acknowledged.
    pub(crate) fn pending(&self) -> usize {
        self.group.as_ref().map_or(0, |group| group.pending.len())
    }
}
