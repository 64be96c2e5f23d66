//! A3 to A5: the grab script alone, over the same unix socket, by the same client library.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use engine::testing::TestRedis;
use redis::{Script, aio::MultiplexedConnection};

use crate::stand::{Fsync, redis};

const SCRIPT: &str = include_str!("../../../lua/grab.lua");
const KEYS: [&str; 4] = [
    "seckill:stock:1:{p0}",
    "seckill:order:1:{p0}",
    "seckill:sale:1:{p0}",
    "stream.orders:{p0}",
];

/// Grabs a second in one way of calling.
#[derive(Debug, Clone)]
pub(crate) struct ScriptRate {
    /// How the calls were made.
    pub(crate) name: String,
    /// Grabs a second.
    pub(crate) rate: f64,
}

/// A3: one grab a call, each waits for its answer. A4: 64 calls under way at once, each with a batch.
pub(crate) async fn a3_a4_script(time: Duration) -> Result<Vec<ScriptRate>> {
    let redis = redis(Fsync::Always).await;
    let mut rates = vec![rate(&redis, "A3 one by one", 1, 1, time).await?];
    for batch in [1, 8, 32, 128] {
        let name = format!("A4 pipelined, batches of {batch}");
        rates.push(rate(&redis, &name, 64_usize.div_ceil(batch).max(2), batch, time).await?);
    }
    Ok(rates)
}

/// A5: batches of 64, two under way, by fsync.
pub(crate) async fn a5_fsync(time: Duration) -> Result<Vec<ScriptRate>> {
    let mut rates = Vec::new();
    for fsync in [Fsync::No, Fsync::EverySec, Fsync::Always] {
        let redis = redis(fsync).await;
        rates.push(rate(&redis, &format!("A5 appendfsync {}", fsync.word()), 2, 64, time).await?);
    }
    Ok(rates)
}

async fn rate(
    redis: &TestRedis,
    name: &str,
    under_way: usize,
    batch: usize,
    time: Duration,
) -> Result<ScriptRate> {
    let con = redis.connect().await;
    open_sale(&con).await?;
    let began = Instant::now();
    let callers: Vec<_> = (0..under_way)
        .map(|caller| tokio::spawn(call(con.clone(), caller, under_way, batch, began + time)))
        .collect();
    let mut grabs = 0;
    for caller in callers {
        grabs += caller.await??;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let rate = grabs as f64 / began.elapsed().as_secs_f64();
    Ok(ScriptRate {
        name: name.to_owned(),
        rate,
    })
}

async fn call(
    mut con: MultiplexedConnection,
    caller: usize,
    callers: usize,
    batch: usize,
    end: Instant,
) -> Result<u64> {
    let script = Script::new(SCRIPT);
    let mut user = caller * batch + 1;
    let mut grabs = 0;
    while Instant::now() < end {
        let mut invocation = script.prepare_invoke();
        for key in KEYS {
            invocation.key(key);
        }
        invocation.arg(1).arg(1);
        for user in user..user + batch {
            invocation.arg(user).arg((1_usize << 56) + user);
        }
        let replies: Vec<i64> = invocation.invoke_async(&mut con).await?;
        ensure!(
            replies.iter().all(|reply| *reply == 0),
            "the script answered {replies:?}"
        );
        grabs += batch as u64;
        user += callers * batch;
    }
    Ok(grabs)
}

/// A sale with more units than can be asked for.
async fn open_sale(con: &MultiplexedConnection) -> Result<()> {
    let mut pipe = redis::pipe();
    pipe.cmd("FLUSHALL").ignore();
    pipe.set(KEYS[0], 1_000_000_000).ignore();
    pipe.hset(KEYS[1], "0", 1).ignore();
    let sale = [
        ("begin", "1"),
        ("end", "9999999999999"),
        ("state", "running"),
        ("epoch", "1"),
    ];
    pipe.hset_multiple(KEYS[2], &sale).ignore();
    Ok(pipe.exec_async(&mut con.clone()).await?)
}
