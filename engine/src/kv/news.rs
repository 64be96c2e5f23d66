//! What processes tell each other: at most once, so whoever misses something reads the state again.

use domain::{OrderEvent, UserId};
use futures_util::StreamExt;
use redis::AsyncCommands;
use serde::{Deserialize, Serialize};

use super::{Kv, KvError, keys::NEWS};

/// One message on the channel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum News {
    /// Orders that were settled, with their owners.
    Orders(Vec<(UserId, OrderEvent)>),
    /// A sale was created or steered.
    Sales,
    /// A lock was freed.
    Freed,
    /// A session ended: its token's hash.
    Logout(String),
}

/// Listens on the channel.
pub(crate) struct NewsReader {
    channel: redis::aio::PubSub,
}

impl News {
    pub(super) fn encode(&self) -> Result<Vec<u8>, KvError> {
        serde_json::to_vec(self).map_err(|error| KvError::Unexpected(error.to_string()))
    }
}

impl Kv {
    /// Tells every process.
    pub(crate) async fn publish(&self, news: &News) -> Result<(), KvError> {
        Ok(self.calm.clone().publish(NEWS, news.encode()?).await?)
    }

    /// Starts to listen. Whatever was told before is missed: read the state afterwards.
    pub(crate) async fn listen(&self) -> Result<NewsReader, KvError> {
        let mut channel = self.listening_connection().await?;
        channel.subscribe(NEWS).await?;
        Ok(NewsReader { channel })
    }
}

impl NewsReader {
    /// The next message; `None` when the connection is lost. What can't be read is skipped.
    pub(crate) async fn next(&mut self) -> Option<News> {
        let mut messages = self.channel.on_message();
        loop {
            let message = messages.next().await?;
            match serde_json::from_slice(message.get_payload_bytes()) {
                Ok(news) => return Some(news),
                Err(error) => tracing::warn!(%error, "a message on the news channel can't be read"),
            }
        }
    }
}
