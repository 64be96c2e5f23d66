//! What can go wrong with Redis, sorted by what to do about it.

use redis::{ErrorKind, RedisError, ServerErrorKind};

/// A call to Redis that brought no usable answer. Whether it took effect is unknown unless [`Trouble::is_refused`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum KvError {
    /// Redis or the way to it is in trouble; the same call may work later.
    #[error("redis: {trouble}: {source}")]
    Trouble {
        trouble: Trouble,
        #[source]
        source: RedisError,
    },
    /// An answer that no code path of ours expects.
    #[error("redis answered what was not expected: {0}")]
    Unexpected(String),
}

/// Kinds of trouble, each counted by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Trouble {
    /// No connection, or none in time.
    Unreachable,
    /// No answer in time: the call may have run.
    TimedOut,
    /// Redis reads its data set after a start.
    Loading,
    /// A replica, or a primary that became one.
    ReadOnly,
    /// No memory left: refused before any effect.
    OutOfMemory,
    /// Redis stops writes since it can't persist them.
    Misconfigured,
    /// The group, or the whole stream, is gone.
    NoGroup,
    /// The script cache was emptied, twice in a row.
    NoScript,
    /// Whatever else Redis refused.
    Refused,
}

impl Trouble {
    /// Its name in metrics and logs.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::TimedOut => "timed_out",
            Self::Loading => "loading",
            Self::ReadOnly => "read_only",
            Self::OutOfMemory => "out_of_memory",
            Self::Misconfigured => "misconfigured",
            Self::NoGroup => "no_group",
            Self::NoScript => "no_script",
            Self::Refused => "refused",
        }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl KvError {
    /// The kind of trouble; `None` for an answer that we don't understand.
    pub(crate) const fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Trouble { trouble, .. } => Some(*trouble),
            Self::Unexpected(_) => None,
        }
    }
}

impl From<RedisError> for KvError {
    fn from(source: RedisError) -> Self {
        if matches!(source.kind(), ErrorKind::UnexpectedReturnType | ErrorKind::Parse) {
            return Self::Unexpected(source.to_string());
        }
        Self::Trouble {
            trouble: sort(&source),
            source,
        }
    }
}

impl From<redis::ParsingError> for KvError {
    fn from(error: redis::ParsingError) -> Self {
        Self::Unexpected(error.to_string())
    }
}

fn sort(error: &RedisError) -> Trouble {
    if error.is_timeout() {
        return Trouble::TimedOut;
    }
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::BusyLoading) => return Trouble::Loading,
        ErrorKind::Server(ServerErrorKind::ReadOnly) => return Trouble::ReadOnly,
        ErrorKind::Server(ServerErrorKind::NoScript) => return Trouble::NoScript,
        ErrorKind::Io => return Trouble::Unreachable,
        _ => {}
    }
    // A script passes Redis' own error on inside its text, so the text is looked at too.
    let text = error.to_string();
    let has = |word: &str| error.code() == Some(word) || text.contains(word);
    if has("OOM") {
        Trouble::OutOfMemory
    } else if has("NOGROUP") {
        Trouble::NoGroup
    } else if has("MISCONF") {
        Trouble::Misconfigured
    } else if has("READONLY") {
        Trouble::ReadOnly
    } else if has("LOADING") {
        Trouble::Loading
    } else if error.is_connection_dropped() || error.is_connection_refusal() || error.is_io_error() {
        Trouble::Unreachable
    } else {
        Trouble::Refused
    }
}
