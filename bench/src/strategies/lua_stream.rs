//! The classic end of the road: the script decides and appends to a Stream; a consumer reads one entry, writes one order
//! in one transaction, acknowledges it, and reads the next. Our own script, one attempt a call.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use futures_util::future::BoxFuture;
use redis::{Script, Value, aio::MultiplexedConnection, streams::StreamReadReply};

use super::{Said, Strategy, Venue, row};

const SCRIPT: &str = include_str!("../../../lua/grab.lua");
const KEYS: [&str; 4] = ["strategy:stock", "strategy:claims", "strategy:sale", STREAM];
const STREAM: &str = "strategy:stream";

/// The script, called for one attempt at a time.
pub(super) struct Decide {
    con: MultiplexedConnection,
    script: Script,
    order: AtomicI64,
}

impl Decide {
    /// Connects, and opens the sale unless it is open.
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        let client = redis::Client::open(venue.at.redis[0].as_str())?;
        let mut con = client.get_multiplexed_async_connection().await?;
        let sale = [
            ("begin", "1"),
            ("end", "9999999999999"),
            ("state", "running"),
            ("epoch", "1"),
        ];
        let mut pipe = redis::pipe();
        pipe.atomic();
        pipe.cmd("SETNX").arg(KEYS[0]).arg(venue.stock).ignore();
        pipe.cmd("HSETNX").arg(KEYS[1]).arg("0").arg(1).ignore();
        pipe.hset_multiple(KEYS[2], &sale).ignore();
        pipe.exec_async(&mut con).await?;
        Ok(Self {
            con,
            script: Script::new(SCRIPT),
            order: AtomicI64::new(1),
        })
    }

    /// One attempt.
    pub(super) async fn ask(&self, user: i64) -> Result<Said> {
        let mut call = self.script.prepare_invoke();
        for key in KEYS {
            call.key(key);
        }
        call.arg(1)
            .arg(1)
            .arg(user)
            .arg(self.order.fetch_add(1, Ordering::Relaxed));
        let reply: Vec<Value> = call.invoke_async(&mut self.con.clone()).await?;
        match reply.first() {
            Some(Value::Int(0)) => Ok(Said::Accepted),
            Some(Value::Int(1)) => Ok(Said::SoldOut),
            Some(Value::Array(_)) => Ok(Said::Duplicate),
            other => bail!("grab.lua answered {other:?}"),
        }
    }
}

pub(super) struct LuaStream {
    decide: Decide,
}

impl LuaStream {
    pub(super) async fn open(venue: &Venue) -> Result<Self> {
        let decide = Decide::open(venue).await?;
        let made = redis::cmd("XGROUP")
            .arg(&["CREATE", STREAM, "g1", "0", "MKSTREAM"])
            .exec_async(&mut decide.con.clone())
            .await;
        if let Err(error) = made
            && error.code() != Some("BUSYGROUP")
        {
            return Err(error.into());
        }
        let con = redis::Client::open(venue.at.redis[0].as_str())?
            .get_multiplexed_async_connection()
            .await?;
        tokio::spawn(consume(venue.clone(), con));
        Ok(Self { decide })
    }

    async fn empty(&self) -> Result<()> {
        let mut con = self.decide.con.clone();
        while redis::cmd("XLEN")
            .arg(STREAM)
            .query_async::<u64>(&mut con)
            .await?
            > 0
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }
}

/// Own pending entries first, for whoever was killed between the row and the acknowledgement, then fresh ones. A row that
/// is there already is not written twice.
async fn consume(venue: Venue, mut con: MultiplexedConnection) -> Result<()> {
    let mut from = "0";
    loop {
        let mut read = redis::cmd("XREADGROUP");
        read.arg(&["GROUP", "g1", "c1", "COUNT", "1"]);
        if from == ">" {
            read.arg(&["BLOCK", "200"]);
        }
        let reply: Option<StreamReadReply> =
            read.arg(&["STREAMS", STREAM, from]).query_async(&mut con).await?;
        let entries = reply
            .into_iter()
            .flat_map(|reply| reply.keys)
            .flat_map(|key| key.ids);
        let mut none = true;
        for entry in entries {
            none = false;
            let user: i64 = entry.get("userId").context("an entry without a user")?;
            let mut tx = venue.pool.begin().await?;
            if !row::has_one(&mut *tx, user).await? {
                row::take_guarded(&mut tx, user).await?;
            }
            tx.commit().await?;
            redis::pipe()
                .cmd("XACK")
                .arg(&[STREAM, "g1", &entry.id])
                .ignore()
                .cmd("XDEL")
                .arg(&[STREAM, &entry.id])
                .ignore()
                .exec_async(&mut con)
                .await?;
        }
        if none {
            from = ">";
        }
    }
}

impl Strategy for LuaStream {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(self.decide.ask(user))
    }

    fn settle(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.empty())
    }
}
