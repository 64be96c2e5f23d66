//! Connections to Redis, by purpose, so that none waits behind another's work.

use std::{sync::Arc, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, Script,
    aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection},
    io::tcp::TcpSettings,
};

use super::{Keys, KvError};
use crate::failpoint::{FailPoints, Sabotage};

/// How Redis is reached.
#[derive(Debug, Clone)]
pub(crate) struct KvSettings {
    /// `redis://…` or `redis+unix:///…`.
    pub(crate) url: String,
    /// Number of partitions.
    pub(crate) partitions: u16,
    /// After this long a call counts as unanswered.
    pub(crate) response_timeout: Duration,
    /// Only for the fault harness.
    pub(crate) fail_points: FailPoints,
}

/// Commands that may be under way on one connection; more wait. Far above what the lanes use.
const PIPELINE: usize = 4096;

/// Redis, as the engine uses it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Kv {
    /// Grabs only.
    pub(super) hot: ConnectionManager,
    /// Everything else that answers at once.
    pub(super) calm: ConnectionManager,
    pub(super) scripts: Arc<Scripts>,
    pub(super) keys: Keys,
    client: Client,
    response_timeout: Duration,
}

/// The scripts of `lua/`, each with one wrapper in a module of its own.
pub(super) struct Scripts {
    pub(super) grab: Script,
    pub(super) load: Script,
    pub(super) close: Script,
    pub(super) give_back: Script,
    pub(super) steer: Script,
    pub(super) restock: Script,
    pub(super) code_issue: Script,
    pub(super) code_check: Script,
    pub(super) lock_take: Script,
    pub(super) lock_renew: Script,
    pub(super) lock_release: Script,
    pub(super) requeue: Script,
    pub(super) replay: Script,
    pub(super) drop_consumers: Script,
    pub(super) rate: Script,
}

impl Scripts {
    fn new(fail_points: &FailPoints) -> Self {
        Self {
            grab: Script::new(&broken(fail_points, include_str!("../../../lua/grab.lua"))),
            load: Script::new(include_str!("../../../lua/load.lua")),
            close: Script::new(include_str!("../../../lua/close.lua")),
            give_back: Script::new(&broken(fail_points, include_str!("../../../lua/give_back.lua"))),
            steer: Script::new(include_str!("../../../lua/steer.lua")),
            restock: Script::new(include_str!("../../../lua/restock.lua")),
            code_issue: Script::new(include_str!("../../../lua/code_issue.lua")),
            code_check: Script::new(include_str!("../../../lua/code_check.lua")),
            lock_take: Script::new(include_str!("../../../lua/lock_take.lua")),
            lock_renew: Script::new(include_str!("../../../lua/lock_renew.lua")),
            lock_release: Script::new(include_str!("../../../lua/lock_release.lua")),
            requeue: Script::new(include_str!("../../../lua/requeue.lua")),
            replay: Script::new(include_str!("../../../lua/replay.lua")),
            drop_consumers: Script::new(include_str!("../../../lua/drop_consumers.lua")),
            rate: Script::new(include_str!("../../../lua/rate.lua")),
        }
    }
}

/// The script with one rule taken out, in test builds that ask for it (K57).
fn broken(fail_points: &FailPoints, script: &str) -> String {
    let rules = [
        (
            Sabotage::NoClaimCheck,
            "local first = held[i + 1] or mine[user]",
            "local first",
        ),
        (
            Sabotage::NoStockCheck,
            "elseif #entries >= stock then",
            "elseif false then",
        ),
        (Sabotage::NoWindowCheck, "elseif closed then", "elseif false then"),
        (
            Sabotage::GiveBackTwice,
            "if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then",
            "if false then",
        ),
    ];
    let broken = rules.iter().filter(|(rule, ..)| fail_points.breaks(*rule));
    broken.fold(script.to_owned(), |script, (_, sound, unsound)| {
        script.replace(sound, unsound)
    })
}

impl Kv {
    /// Connects. Fails when Redis can't be reached at all; later losses are mended in the background.
    pub(crate) async fn connect(settings: &KvSettings) -> Result<Self, KvError> {
        // Without it each small reply waits for an acknowledgement: redis-rs 1.x leaves Nagle's algorithm on.
        let tcp = TcpSettings::default().set_nodelay(true);
        let info = settings
            .url
            .as_str()
            .into_connection_info()?
            .set_tcp_settings(tcp);
        let client = Client::open(info)?;
        let config = || {
            ConnectionManagerConfig::new()
                .set_response_timeout(Some(settings.response_timeout))
                .set_connection_timeout(Some(settings.response_timeout))
                .set_number_of_retries(3)
                .set_min_delay(Duration::from_millis(20))
                .set_max_delay(Duration::from_millis(500))
                .set_pipeline_buffer_size(PIPELINE)
                .set_write_backpressure_boundary(64 * 1024)
        };
        Ok(Self {
            hot: ConnectionManager::new_with_config(client.clone(), config()).await?,
            calm: ConnectionManager::new_with_config(client.clone(), config()).await?,
            scripts: Arc::new(Scripts::new(&settings.fail_points)),
            keys: Keys::new(settings.partitions),
            client,
            response_timeout: settings.response_timeout,
        })
    }

    /// The key space.
    pub(crate) const fn keys(&self) -> Keys {
        self.keys
    }

    /// A connection of one's own for blocking reads of up to `block`. The answer may take that long and a margin:
    /// a reader that gives up earlier leaves delivered entries with nobody (R28, R29).
    pub(super) async fn blocking_connection(
        &self,
        block: Duration,
    ) -> Result<MultiplexedConnection, KvError> {
        let config = AsyncConnectionConfig::new()
            .set_response_timeout(Some(block + self.response_timeout))
            .set_connection_timeout(Some(self.response_timeout));
        Ok(self
            .client
            .get_multiplexed_async_connection_with_config(&config)
            .await?)
    }

    /// A connection that only listens.
    pub(super) async fn listening_connection(&self) -> Result<redis::aio::PubSub, KvError> {
        Ok(self.client.get_async_pubsub().await?)
    }
}
