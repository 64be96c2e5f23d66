//! What is read when somebody asks, not counted as it happens: streams, pools, the process itself.

use std::{fs, time::Duration};

use engine::Engine;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge, info::Info},
    registry::Registry,
};
use tokio::{sync::Mutex, time::Instant};

/// Scrapes that come sooner get what the last one read: asking often costs the shop nothing.
const FRESH: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Partition {
    partition: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Pool {
    pool: &'static str,
    state: &'static str,
}

type ByPartition = Family<Partition, Gauge>;

/// The gauges.
#[derive(Default)]
pub(crate) struct Gauges {
    waiting: ByPartition,
    pending: ByPartition,
    oldest: Family<Partition, Gauge<f64, std::sync::atomic::AtomicU64>>,
    dead: ByPartition,
    pools: Family<Pool, Gauge>,
    redis_up: Gauge,
    memory: Gauge,
    files: Gauge,
    read_at: Mutex<Option<Instant>>,
}

impl Gauges {
    pub(crate) fn new(registry: &mut Registry) -> Self {
        let gauges = Self::default();
        let r = registry;
        r.register(
            "seckill_stream_waiting",
            "Entries that wait to be settled",
            gauges.waiting.clone(),
        );
        r.register(
            "seckill_stream_pending",
            "Of these, delivered and not acknowledged",
            gauges.pending.clone(),
        );
        r.register(
            "seckill_stream_oldest_seconds",
            "Time that the oldest entry has waited; 0 when none waits",
            gauges.oldest.clone(),
        );
        r.register(
            "seckill_stream_dead_letters",
            "Entries that need an operator",
            gauges.dead.clone(),
        );
        r.register(
            "seckill_pool_connections",
            "Connections to PostgreSQL; all open and none idle means that callers wait",
            gauges.pools.clone(),
        );
        r.register(
            "seckill_redis_up",
            "Redis answered the last question",
            gauges.redis_up.clone(),
        );
        r.register(
            "process_resident_memory_bytes",
            "Memory of this process",
            gauges.memory.clone(),
        );
        r.register("process_open_fds", "Open file handles", gauges.files.clone());
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        r.register("seckill_build", "What runs here", build);
        gauges
    }

    /// Reads everything, unless that was done a moment ago. What can't be read keeps its last value.
    pub(crate) async fn refresh(&self, engine: &Engine) {
        // Scrapes that come together wait for one reading.
        let mut read_at = self.read_at.lock().await;
        if read_at.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        for pool in engine.pools() {
            let states = [("open", pool.open), ("idle", pool.idle), ("max", pool.most)];
            for (state, n) in states {
                let labels = Pool {
                    pool: pool.name,
                    state,
                };
                self.pools.get_or_create(&labels).set(n.into());
            }
        }
        let streams = engine.streams().await;
        self.redis_up.set(streams.is_ok().into());
        for stream in streams.unwrap_or_default() {
            let labels = Partition {
                partition: stream.partition,
            };
            let whole = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            self.waiting.get_or_create(&labels).set(whole(stream.waiting));
            self.pending.get_or_create(&labels).set(whole(stream.pending));
            self.dead.get_or_create(&labels).set(whole(stream.dead));
            let oldest = Duration::from_millis(stream.oldest_ms.unwrap_or(0));
            self.oldest.get_or_create(&labels).set(oldest.as_secs_f64());
        }
        if let Some(bytes) = resident_bytes() {
            self.memory.set(bytes);
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            self.files.set(i64::try_from(files.count()).unwrap_or(i64::MAX));
        }
        *read_at = Some(Instant::now());
    }
}

fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}
