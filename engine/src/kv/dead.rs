//! The dead stream: what could not be settled, for operators.

use std::str::FromStr;

use super::{Entry, EntryId, Kv, KvError, Partition};

/// Letters shown at once.
const SHOWN: usize = 200;

/// Names a dead letter: its partition and its entry id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LetterId {
    pub(crate) partition: u16,
    pub(crate) entry: EntryId,
}

/// A dead letter.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) id: LetterId,
    /// Why, in one word.
    pub(crate) reason: String,
    /// The order, as far as it could be read.
    pub(crate) order: Option<Entry>,
    /// The entry's fields as text.
    pub(crate) payload: String,
}

/// What `replay.lua` says; its codes stand in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplayReply {
    /// 1
    Queued,
    /// 0
    Gone,
    /// 2
    NoOrder,
}

impl std::fmt::Display for LetterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.partition, self.entry)
    }
}

impl FromStr for LetterId {
    type Err = KvError;

    fn from_str(text: &str) -> Result<Self, KvError> {
        let bad = || KvError::Unexpected(format!("dead letter id {text:?}"));
        let (partition, entry) = text.split_once('.').ok_or_else(bad)?;
        Ok(Self {
            partition: partition.parse().map_err(|_| bad())?,
            entry: entry.parse()?,
        })
    }
}

impl Kv {
    /// The newest dead letters of a partition.
    pub(crate) async fn dead_letters(&self, partition: Partition) -> Result<Vec<Letter>, KvError> {
        self.letters("XREVRANGE", partition, "+", "-", SHOWN).await
    }

    /// One dead letter.
    pub(crate) async fn dead_letter(&self, id: LetterId) -> Result<Option<Letter>, KvError> {
        let Some(partition) = self.keys.partitions().find(|p| p.number() == id.partition) else {
            return Ok(None);
        };
        let entry = id.entry.to_string();
        Ok(self.letters("XRANGE", partition, &entry, &entry, 1).await?.pop())
    }

    async fn letters(
        &self,
        command: &'static str,
        partition: Partition,
        from: &str,
        to: &str,
        count: usize,
    ) -> Result<Vec<Letter>, KvError> {
        let rows: Vec<(String, Vec<(String, String)>)> = redis::cmd(command)
            .arg(partition.dead())
            .arg(from)
            .arg(to)
            .arg("COUNT")
            .arg(count)
            .query_async(&mut self.calm.clone())
            .await?;
        rows.into_iter()
            .map(|(id, fields)| letter(partition, &id, &fields))
            .collect()
    }

    /// Queues a letter's order again.
    pub(crate) async fn replay(&self, id: LetterId) -> Result<ReplayReply, KvError> {
        let Some(partition) = self.keys.partitions().find(|p| p.number() == id.partition) else {
            return Ok(ReplayReply::Gone);
        };
        let code: i64 = self
            .scripts
            .replay
            .key(partition.dead())
            .key(partition.stream())
            .key(partition.held())
            .arg(id.entry.to_string())
            .invoke_async(&mut self.calm.clone())
            .await?;
        match code {
            1 => Ok(ReplayReply::Queued),
            0 => Ok(ReplayReply::Gone),
            2 => Ok(ReplayReply::NoOrder),
            code => Err(KvError::Unexpected(format!("replay.lua returned {code}"))),
        }
    }

    /// Drops a letter that is dealt with, and lets go of its order.
    pub(crate) async fn drop_letter(&self, letter: &Letter) -> Result<(), KvError> {
        let Some(partition) = self.keys.partitions().find(|p| p.number() == letter.id.partition) else {
            return Ok(());
        };
        let mut pipe = redis::pipe();
        pipe.atomic();
        pipe.cmd("XDEL")
            .arg(partition.dead())
            .arg(letter.id.entry.to_string())
            .ignore();
        if let Some(order) = letter.order {
            pipe.hdel(partition.held(), order.order.get()).ignore();
        }
        Ok(pipe.exec_async(&mut self.calm.clone()).await?)
    }
}

fn letter(partition: Partition, id: &str, fields: &[(String, String)]) -> Result<Letter, KvError> {
    let field = |name: &str| {
        fields
            .iter()
            .find(|(field, _)| field == name)
            .map_or("", |(_, value)| value.as_str())
    };
    let order = (|| {
        Some(Entry {
            user: field("userId").parse().ok()?,
            order: field("id").parse().ok()?,
            voucher: field("voucherId").parse().ok()?,
            epoch: None,
        })
    })();
    Ok(Letter {
        id: LetterId {
            partition: partition.number(),
            entry: id.parse()?,
        },
        reason: field("reason").to_owned(),
        order,
        payload: field("payload").to_owned(),
    })
}
