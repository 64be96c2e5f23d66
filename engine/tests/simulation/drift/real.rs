//! The scripts in a private Redis, called with the same arguments.

use std::collections::{BTreeMap, BTreeSet};

use engine::testing::TestRedis;
use redis::{AsyncCommands, Script, Value, aio::MultiplexedConnection, streams::StreamRangeReply};

use super::call::Call;
use crate::model::redis::{Redis, Step};

const VOUCHER: i64 = 10;
const KEYS: [&str; 4] = [
    "seckill:stock:10:{p0}",
    "seckill:order:10:{p0}",
    "seckill:sale:10:{p0}",
    "stream.orders:{p0}",
];
const STAGED: &str = "seckill:order:10:staged:1:{p0}";
const GROUP: &str = "g1";

/// All that is left in the keys, as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    stock: Option<i64>,
    claims: BTreeMap<i64, i64>,
    sale: BTreeMap<String, String>,
    entries: Vec<[i64; 3]>,
}

/// A Redis with the scripts.
pub(super) struct Real {
    con: MultiplexedConnection,
    scripts: [Script; 7],
    codes: BTreeSet<String>,
    _server: TestRedis,
}

impl Real {
    pub(super) async fn start() -> Self {
        let server = TestRedis::start_with(&["--appendonly", "no"]).await;
        Self {
            con: server.connect().await,
            scripts: [
                include_str!("../../../../lua/grab.lua"),
                include_str!("../../../../lua/load.lua"),
                include_str!("../../../../lua/close.lua"),
                include_str!("../../../../lua/give_back.lua"),
                include_str!("../../../../lua/steer.lua"),
                include_str!("../../../../lua/restock.lua"),
                include_str!("../../../../lua/requeue.lua"),
            ]
            .map(Script::new),
            codes: BTreeSet::new(),
            _server: server,
        }
    }

    pub(super) async fn empty(&mut self) {
        redis::cmd("FLUSHALL")
            .exec_async(&mut self.con)
            .await
            .expect("emptied");
    }

    /// All codes that were heard.
    pub(super) fn codes(&self) -> String {
        self.codes.iter().cloned().collect::<Vec<_>>().join(", ")
    }

    /// Makes the call; its reply as the model would put it.
    pub(super) async fn call(&mut self, call: &Call) -> String {
        let [stock, claims, sale, stream] = KEYS;
        let reply = match call {
            Call::Grab { epoch, attempts } => {
                let attempts = attempts.iter().flat_map(|(user, order)| [*user, *order]);
                let args: Vec<i64> = [VOUCHER, *epoch].into_iter().chain(attempts).collect();
                let replies = self.script(0, &KEYS, &args).await;
                let Value::Array(replies) = replies else {
                    panic!("grab: {replies:?}")
                };
                let words: Vec<String> = replies.iter().map(shown).collect();
                format!("grab {}", words.join(", grab "))
            }
            Call::Load(copy) => {
                let fields: Vec<(i64, i64)> = copy.claims.clone();
                if !fields.is_empty() {
                    let () = self.con.hset_multiple(STAGED, &fields).await.expect("staged");
                }
                let open = copy.open;
                let staged = if fields.is_empty() { "" } else { "staged" };
                let args = [
                    copy.epoch.to_string(),
                    open.begin.to_string(),
                    open.end.to_string(),
                    open.state.word().to_owned(),
                    copy.initial.to_string(),
                    copy.stock.to_string(),
                    open.version.to_string(),
                    open.run.to_string(),
                    staged.to_owned(),
                ];
                let reply = self.script(1, &[stock, claims, sale, STAGED], &args).await;
                let () = self.con.del(STAGED).await.expect("deleted");
                format!("load {}", shown(&reply))
            }
            Call::Close(epoch) => self.close(*epoch).await,
            Call::GiveBack { user, order, instead } => {
                let instead = instead.map_or_else(String::new, |id| id.to_string());
                let args = [user.to_string(), order.to_string(), instead];
                let reply = self.script(3, &[stock, claims, sale], &args).await;
                format!("give back {}", shown(&reply))
            }
            Call::Steer { epoch, to } => {
                let args = [
                    epoch.to_string(),
                    to.version.to_string(),
                    to.state.word().to_owned(),
                    to.begin.to_string(),
                    to.end.to_string(),
                ];
                format!("steer {}", shown(&self.script(4, &[sale], &args).await))
            }
            Call::Restock {
                step,
                epoch,
                change,
                delta,
            } => {
                let step = match step {
                    Step::Begin => "begin",
                    Step::Commit => "commit",
                    Step::Abort => "abort",
                };
                let args = [
                    step.to_owned(),
                    epoch.to_string(),
                    change.to_string(),
                    delta.to_string(),
                ];
                format!("restock {}", shown(&self.script(5, &[stock, sale], &args).await))
            }
            Call::Requeue { epoch, user, order } => {
                let args = [*user, *order, VOUCHER, *epoch];
                format!(
                    "requeue {}",
                    shown(&self.script(6, &[claims, stream, "settle.held:{p0}"], &args).await)
                )
            }
            Call::Lose(key) => {
                let () = self.con.del(KEYS[*key]).await.expect("deleted");
                "lose".to_owned()
            }
            _ => self.consume(call).await,
        };
        self.codes.extend(reply.split(", ").map(ToOwned::to_owned));
        reply
    }

    async fn close(&mut self, epoch: i64) -> String {
        let reply = self.script(2, &[KEYS[2], KEYS[3]], &[epoch]).await;
        let (code, last): (i64, String) = redis::from_redis_value(reply).expect("a pair");
        if code == 0 {
            return "close 0".to_owned();
        }
        let entry = self.entries().await.pop();
        let end = entry.as_ref().map_or("0-0", |entry| entry.0.as_str());
        assert_eq!(last, end, "close.lua tells another last entry");
        format!("close {code} {:?}", entry.map(|entry| entry.1[1]))
    }

    /// What consumers do, without a script.
    async fn consume(&mut self, call: &Call) -> String {
        let stream = KEYS[3];
        let mut cmd = redis::Cmd::new();
        match call {
            Call::Group => {
                let made = cmd
                    .arg(&["XGROUP", "CREATE", stream, GROUP, "0", "MKSTREAM"])
                    .exec_async(&mut self.con)
                    .await;
                assert!(made.is_ok_and(|()| true) || self.exists(stream).await);
                return "group".to_owned();
            }
            Call::Finish(count) => {
                let entries = self.entries().await;
                for (id, _) in entries.iter().take(*count) {
                    redis::pipe()
                        .atomic()
                        .cmd("XACK")
                        .arg(&[stream, GROUP, id])
                        .cmd("XDEL")
                        .arg(&[stream, id])
                        .exec_async(&mut self.con)
                        .await
                        .expect("finished");
                }
                return "finish".to_owned();
            }
            Call::Fresh(consumer, count) => {
                cmd.arg(&["XREADGROUP", "GROUP", GROUP]).arg(*consumer);
                cmd.arg("COUNT").arg(*count).arg(&["STREAMS", stream, ">"]);
            }
            Call::Own(consumer, count) => {
                cmd.arg(&["XREADGROUP", "GROUP", GROUP]).arg(*consumer);
                cmd.arg("COUNT").arg(*count).arg(&["STREAMS", stream, "0"]);
            }
            Call::Claim(consumer) => {
                cmd.arg(&["XAUTOCLAIM", stream, GROUP]).arg(*consumer);
                cmd.arg(&["0", "0-0", "COUNT", "1000"]);
            }
            other => panic!("no consumer does {other:?}"),
        }
        match cmd.query_async::<Value>(&mut self.con).await {
            Ok(Value::Array(mut parts)) if matches!(call, Call::Claim(_)) => orders(parts.swap_remove(1)),
            Ok(Value::Array(mut streams)) => match streams.pop() {
                Some(Value::Array(mut pair)) => orders(pair.pop().unwrap_or(Value::Nil)),
                other => panic!("XREADGROUP: {other:?}"),
            },
            Ok(Value::Nil) => "[]".to_owned(),
            Ok(other) => panic!("{call:?}: {other:?}"),
            Err(error) if error.code() == Some("NOGROUP") => "NOGROUP".to_owned(),
            Err(error) => panic!("{call:?}: {error}"),
        }
    }

    async fn exists(&mut self, key: &str) -> bool {
        self.con.exists(key).await.expect("an answer")
    }

    async fn script(&mut self, at: usize, keys: &[&str], args: &[impl redis::ToRedisArgs]) -> Value {
        let mut call = self.scripts[at].prepare_invoke();
        for key in keys {
            call.key(*key);
        }
        for arg in args {
            call.arg(arg);
        }
        call.invoke_async(&mut self.con).await.expect("the script runs")
    }

    /// The stream: id, and user, order and epoch of each entry.
    async fn entries(&mut self) -> Vec<(String, [i64; 3])> {
        let reply: StreamRangeReply = self.con.xrange_all(KEYS[3]).await.expect("entries");
        let entries = reply.ids.into_iter().map(|entry| {
            let fields = ["userId", "id", "epoch"].map(|field| entry.get(field).expect("a field"));
            assert_eq!(entry.get("voucherId"), Some(VOUCHER));
            (entry.id, fields)
        });
        entries.collect()
    }

    /// All that is left in the keys.
    pub(super) async fn left(&mut self) -> Left {
        let (stock, claims, sale) = redis::pipe()
            .get(KEYS[0])
            .hgetall(KEYS[1])
            .hgetall(KEYS[2])
            .query_async(&mut self.con)
            .await
            .expect("the keys");
        let entries = self.entries().await.into_iter().map(|entry| entry.1).collect();
        Left {
            stock,
            claims,
            sale,
            entries,
        }
    }
}

/// What the model would leave.
pub(super) fn left_in(redis: &Redis) -> Left {
    let sale = &redis.sale;
    let mut fields = BTreeMap::new();
    let mut put =
        |field: &str, value: Option<String>| value.map(|value| fields.insert(field.to_owned(), value));
    put("epoch", sale.epoch.map(|n| n.to_string()));
    put("initial", sale.initial.map(|n| n.to_string()));
    put("moves", sale.moves.map(|n| n.to_string()));
    if let Some(open) = sale.open {
        put("begin", Some(open.begin.to_string()));
        put("end", Some(open.end.to_string()));
        put("state", Some(open.state.word().to_owned()));
        put("version", Some(open.version.to_string()));
        put("run", Some(open.run.to_string()));
    }
    for (change, delta) in &sale.changes.0 {
        put(&format!("change:{change}"), Some(delta.to_string()));
    }
    let entries = redis.stream.entries.iter();
    Left {
        stock: redis.stock,
        claims: redis.claims.0.iter().copied().collect(),
        sale: fields,
        entries: entries
            .map(|entry| [entry.user, entry.order, entry.epoch])
            .collect(),
    }
}

/// The orders of `[[id, fields], …]`.
fn orders(entries: Value) -> String {
    let entries: Vec<(String, BTreeMap<String, String>)> = redis::from_redis_value(entries).expect("entries");
    let orders: Vec<i64> = entries
        .iter()
        .map(|(_, fields)| fields["id"].parse().expect("an id"))
        .collect();
    format!("{orders:?}")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Int(code) => code.to_string(),
        Value::Array(_) => {
            let (code, id): (i64, String) = redis::from_redis_value(value.clone()).expect("a pair");
            format!("[{code} {id}]")
        }
        other => panic!("a script says {other:?}"),
    }
}
