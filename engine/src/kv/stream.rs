//! The stream of queued orders and its consumer group.

use std::{fmt, str::FromStr, time::Duration};

use domain::{OrderId, UserId, VoucherId};
use redis::{Value, aio::MultiplexedConnection};

use super::{
    Kv, KvError, News, Partition, Trouble,
    keys::{GROUP, NEWS},
};

/// An entry's id: the millisecond in which it was added, by Redis' clock, and a number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntryId {
    pub(crate) millis: u64,
    pub(crate) number: u64,
}

/// A queued order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) user: UserId,
    pub(crate) order: OrderId,
    pub(crate) voucher: VoucherId,
    /// The epoch under which it was decided; absent in entries that others wrote.
    pub(crate) epoch: Option<i64>,
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Payload {
    /// An order, as `grab.lua` wrote it.
    Order(Entry),
    /// Something else; the text shows it to people.
    Bad(String),
    /// Pending, but deleted from the stream.
    Gone,
}

/// The reason of a letter whose outcome is unknown: nothing touches its order but an operator.
pub(crate) const HELD: &str = "held";

/// What goes to the dead stream.
#[derive(Debug, Clone)]
pub(crate) struct Dead {
    pub(crate) entry: EntryId,
    /// Why, in one word.
    pub(crate) reason: &'static str,
    /// The order, as far as it could be read.
    pub(crate) order: Option<Entry>,
    /// The entry's fields as text.
    pub(crate) payload: String,
}

/// What waits in a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct WaitingFor {
    /// Entries in the stream: each waits to be settled.
    pub(crate) entries: u64,
    /// Of these, delivered and not acknowledged.
    pub(crate) pending: u64,
    /// When the oldest entry was added, in Unix milliseconds.
    pub(crate) oldest_millis: Option<u64>,
    /// Dead letters.
    pub(crate) dead: u64,
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.millis, self.number)
    }
}

impl FromStr for EntryId {
    type Err = KvError;

    fn from_str(text: &str) -> Result<Self, KvError> {
        let bad = || KvError::Unexpected(format!("stream id {text:?}"));
        let (millis, number) = text.split_once('-').ok_or_else(bad)?;
        Ok(Self {
            millis: millis.parse().map_err(|_| bad())?,
            number: number.parse().map_err(|_| bad())?,
        })
    }
}

/// Reads one partition as one consumer, on a connection of its own.
pub(crate) struct StreamReader {
    con: MultiplexedConnection,
    stream: String,
    consumer: String,
    block: Duration,
}

impl Kv {
    /// Opens a reader; reads block for up to `block`.
    pub(crate) async fn reader(
        &self,
        partition: Partition,
        consumer: &str,
        block: Duration,
    ) -> Result<StreamReader, KvError> {
        let con = self.blocking_connection(block).await?;
        Ok(StreamReader {
            con,
            stream: partition.stream(),
            consumer: consumer.to_owned(),
            block,
        })
    }

    /// Makes the group, from the stream's beginning, where it is missing. Returns whether it was.
    pub(crate) async fn ensure_group(&self, partition: Partition) -> Result<bool, KvError> {
        let made: Result<(), _> = redis::cmd("XGROUP")
            .arg("CREATE")
            .arg(partition.stream())
            .arg(GROUP)
            .arg("0")
            .arg("MKSTREAM")
            .exec_async(&mut self.calm.clone())
            .await;
        match made {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some("BUSYGROUP") => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Acknowledges and deletes entries, keeps the dead ones, and tells the news, all at once or not at all.
    pub(crate) async fn finish(
        &self,
        partition: Partition,
        entries: &[EntryId],
        dead: &[Dead],
        news: Option<&News>,
    ) -> Result<(), KvError> {
        if entries.is_empty() {
            return Ok(());
        }
        let stream = partition.stream();
        let ids: Vec<String> = entries.iter().map(ToString::to_string).collect();
        let mut pipe = redis::pipe();
        pipe.atomic();
        for letter in dead {
            let text = |id: Option<i64>| id.map_or_else(String::new, |id| id.to_string());
            pipe.cmd("XADD")
                .arg(partition.dead())
                .arg("*")
                .arg(&["reason", letter.reason, "entry"])
                .arg(letter.entry.to_string())
                .arg("userId")
                .arg(text(letter.order.map(|o| o.user.get())))
                .arg("id")
                .arg(text(letter.order.map(|o| o.order.get())))
                .arg("voucherId")
                .arg(text(letter.order.map(|o| o.voucher.get())))
                .arg("payload")
                .arg(&letter.payload)
                .ignore();
            if let (HELD, Some(order)) = (letter.reason, letter.order) {
                pipe.hset(partition.held(), order.order.get(), letter.entry.to_string())
                    .ignore();
            }
        }
        pipe.cmd("XACK").arg(&stream).arg(GROUP).arg(&ids).ignore();
        pipe.cmd("XDEL").arg(&stream).arg(&ids).ignore();
        if let Some(news) = news {
            pipe.publish(NEWS, news.encode()?).ignore();
        }
        Ok(pipe.exec_async(&mut self.calm.clone()).await?)
    }

    /// What waits in a partition.
    pub(crate) async fn waiting(&self, partition: Partition) -> Result<WaitingFor, KvError> {
        let stream = partition.stream();
        let (entries, first, dead): (u64, Value, u64) = redis::pipe()
            .cmd("XLEN")
            .arg(&stream)
            .cmd("XRANGE")
            .arg(&stream)
            .arg(&["-", "+", "COUNT", "1"])
            .cmd("XLEN")
            .arg(partition.dead())
            .query_async(&mut self.calm.clone())
            .await?;
        let summary: Result<Value, _> = redis::cmd("XPENDING")
            .arg(&stream)
            .arg(GROUP)
            .query_async(&mut self.calm.clone())
            .await;
        let pending = match summary.map_err(KvError::from) {
            Ok(Value::Array(parts)) => match parts.first() {
                Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
                _ => 0,
            },
            Ok(other) => return Err(KvError::Unexpected(format!("XPENDING answered {other:?}"))),
            Err(error) if error.trouble() == Some(Trouble::NoGroup) => 0,
            Err(error) => return Err(error),
        };
        let oldest = entries_of(first)?.first().map(|(id, _)| id.millis);
        Ok(WaitingFor {
            entries,
            pending,
            oldest_millis: oldest,
            dead,
        })
    }
}

impl StreamReader {
    /// What was delivered to this consumer earlier and not acknowledged, oldest first.
    pub(crate) async fn own_pending(&mut self, count: usize) -> Result<Vec<(EntryId, Payload)>, KvError> {
        self.read("0", count, None).await
    }

    /// Entries that nobody has seen; waits for the first of them. Empty when none came in time.
    pub(crate) async fn fresh(&mut self, count: usize) -> Result<Vec<(EntryId, Payload)>, KvError> {
        self.read(">", count, Some(self.block)).await
    }

    /// Entries that nobody has seen, if there are any now.
    pub(crate) async fn at_once(&mut self, count: usize) -> Result<Vec<(EntryId, Payload)>, KvError> {
        self.read(">", count, None).await
    }

    /// Takes entries of this consumer's anew: they count as delivered just now, and no more often than before.
    pub(crate) async fn take_anew(&mut self, entries: &[EntryId]) -> Result<(), KvError> {
        let ids: Vec<String> = entries.iter().map(ToString::to_string).collect();
        let mut cmd = redis::cmd("XCLAIM");
        cmd.arg(&self.stream)
            .arg(GROUP)
            .arg(&self.consumer)
            .arg(0)
            .arg(&ids)
            .arg("JUSTID");
        Ok(cmd.exec_async(&mut self.con).await?)
    }

    async fn read(
        &mut self,
        from: &str,
        count: usize,
        block: Option<Duration>,
    ) -> Result<Vec<(EntryId, Payload)>, KvError> {
        let mut cmd = redis::cmd("XREADGROUP");
        cmd.arg("GROUP")
            .arg(GROUP)
            .arg(&self.consumer)
            .arg("COUNT")
            .arg(count);
        if let Some(block) = block {
            cmd.arg("BLOCK")
                .arg(u64::try_from(block.as_millis()).unwrap_or(u64::MAX));
        }
        cmd.arg("STREAMS").arg(&self.stream).arg(from);
        match cmd.query_async(&mut self.con).await? {
            Value::Nil => Ok(Vec::new()),
            Value::Array(mut streams) => match streams.pop() {
                Some(Value::Array(mut pair)) if pair.len() == 2 => {
                    entries_of(pair.pop().unwrap_or(Value::Nil))
                }
                other => Err(KvError::Unexpected(format!("XREADGROUP answered {other:?}"))),
            },
            other => Err(KvError::Unexpected(format!("XREADGROUP answered {other:?}"))),
        }
    }

    /// Takes over what any consumer has had for longer than `idle` without acknowledging, from `cursor` on.
    /// Returns the next cursor; `None` at the end.
    pub(crate) async fn claim(
        &mut self,
        idle: Duration,
        cursor: Option<EntryId>,
        count: usize,
    ) -> Result<(Option<EntryId>, Vec<(EntryId, Payload)>), KvError> {
        let from = cursor.map_or_else(|| "0-0".to_owned(), |id| id.to_string());
        // The third part, ids that are deleted from the stream, is cleared from the pending list by Redis itself.
        let (next, entries, _deleted): (String, Value, Value) = redis::cmd("XAUTOCLAIM")
            .arg(&self.stream)
            .arg(GROUP)
            .arg(&self.consumer)
            .arg(u64::try_from(idle.as_millis()).unwrap_or(u64::MAX))
            .arg(from)
            .arg("COUNT")
            .arg(count)
            .query_async(&mut self.con)
            .await?;
        let next = if next == "0-0" { None } else { Some(next.parse()?) };
        Ok((next, entries_of(entries)?))
    }
}

/// Reads `[[id, [field, value, …]], …]` by hand: the typed reply refuses the whole batch for one bad entry (K15).
pub(super) fn entries_of(value: Value) -> Result<Vec<(EntryId, Payload)>, KvError> {
    let bad = |value: &dyn fmt::Debug| KvError::Unexpected(format!("stream entry {value:?}"));
    let entries = match value {
        Value::Array(entries) => entries,
        Value::Nil => return Ok(Vec::new()),
        other => return Err(bad(&other)),
    };
    let mut answer = Vec::with_capacity(entries.len());
    for entry in entries {
        match entry {
            Value::Array(mut pair) if pair.len() == 2 => {
                let fields = pair.pop().unwrap_or(Value::Nil);
                let id: String = redis::from_redis_value(pair.pop().unwrap_or(Value::Nil))?;
                answer.push((id.parse()?, payload_of(&fields)));
            }
            Value::Nil => {}
            other => return Err(bad(&other)),
        }
    }
    Ok(answer)
}

fn payload_of(fields: &Value) -> Payload {
    let Value::Array(fields) = fields else {
        return Payload::Gone;
    };
    let bytes: Vec<&[u8]> = fields
        .iter()
        .map(|field| match field {
            Value::BulkString(bytes) => bytes.as_slice(),
            _ => &[],
        })
        .collect();
    let number = |name: &[u8]| -> Option<i64> {
        let pair = bytes.chunks_exact(2).find(|pair| pair[0] == name)?;
        std::str::from_utf8(pair[1]).ok()?.parse().ok()
    };
    let entry = (|| {
        Some(Entry {
            user: UserId::new(number(b"userId")?).ok()?,
            order: OrderId::new(number(b"id")?).ok()?,
            voucher: VoucherId::new(number(b"voucherId")?).ok()?,
            epoch: number(b"epoch"),
        })
    })();
    entry.map_or_else(|| Payload::Bad(shown(&bytes)), Payload::Order)
}

/// Fields as a short text for people; what is not UTF-8 is replaced, what is long is cut.
fn shown(fields: &[&[u8]]) -> String {
    const LONGEST: usize = 500;
    let text: Vec<_> = fields
        .iter()
        .map(|field| String::from_utf8_lossy(&field[..field.len().min(LONGEST)]))
        .collect();
    text.join(" ").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &[u8]) -> Value {
        Value::BulkString(text.to_vec())
    }

    fn entry(fields: &[&[u8]]) -> Value {
        Value::Array(vec![
            bulk(b"5-1"),
            Value::Array(fields.iter().map(|f| bulk(f)).collect()),
        ])
    }

    #[test]
    fn k15_one_bad_entry_does_not_spoil_the_batch() {
        let good: &[&[u8]] = &[b"userId", b"7", b"id", b"9", b"voucherId", b"10", b"epoch", b"1"];
        let batch = Value::Array(vec![
            entry(good),
            entry(&[b"id", b"9", b"voucherId", b"10"]),
            entry(&[b"userId", b"\xff\xfe", b"id", b"9", b"voucherId", b"10"]),
            entry(&[b"\xff", b"x"]),
            entry(&[b"userId", b"word", b"id", b"9", b"voucherId", b"-10"]),
            Value::Array(vec![bulk(b"5-2"), Value::Nil]),
        ]);
        let read = entries_of(batch).unwrap();
        assert!(matches!(read[0].1, Payload::Order(Entry { user, .. }) if user.get() == 7));
        assert!(
            read[1..5]
                .iter()
                .all(|(_, payload)| matches!(payload, Payload::Bad(_)))
        );
        assert_eq!(read[5].1, Payload::Gone);
    }

    #[test]
    fn a_huge_field_is_cut_for_the_dead_letter() {
        let long = vec![b'x'; 1 << 20];
        let Payload::Bad(text) = payload_of(&Value::Array(vec![bulk(b"userId"), bulk(&long)])) else {
            panic!()
        };
        assert!(text.len() <= 500);
    }
}
