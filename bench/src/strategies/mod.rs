//! The road that the literature of this system walks, from the naive way to ours, each run by the same driver and judged
//! by the same checker. The wrong ones are here to be seen to be wrong.

mod by_stock;
mod by_version;
mod drive;
mod failover;
mod kill;
mod lua_queue;
mod lua_stream;
mod naive;
mod ours;
mod prepare;
mod redlock;
mod row;
mod row_lock;
mod setnx;
mod user_mutex;
mod venue;
mod verdict;
mod watchdog;

use anyhow::Result;
use futures_util::future::BoxFuture;

pub(crate) use kill::{ChildArgs, child};
pub(crate) use prepare::Ground;
use venue::Venue;
pub(crate) use verdict::{Row, judge};

/// What a shopper is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// A unit is yours.
    Accepted,
    /// Nothing is left.
    SoldOut,
    /// You have one.
    Duplicate,
    /// Told no because somebody else was faster, though units may be left.
    Lost,
    /// The lock is held: nothing was decided, and the shopper tries again.
    Refused,
}

/// A way to sell.
pub(crate) trait Strategy: Send + Sync {
    /// One attempt.
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>>;

    /// Waits until every accepted order is a row, where that takes longer than the answer.
    fn settle(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// What goes wrong in the middle of the sale, where that is the point.
    fn disturb(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// All of them, in the order of the road.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    Naive,
    ByVersion,
    ByStock,
    RowLock,
    UserMutex,
    UserMutexTwice,
    SetNx,
    Watchdog,
    Failover,
    Redlock,
    LuaQueue,
    LuaStream,
    Ours,
}

impl Kind {
    /// The road.
    pub(crate) const ALL: [Self; 13] = [
        Self::Naive,
        Self::ByVersion,
        Self::ByStock,
        Self::RowLock,
        Self::UserMutex,
        Self::UserMutexTwice,
        Self::SetNx,
        Self::Watchdog,
        Self::Failover,
        Self::Redlock,
        Self::LuaQueue,
        Self::LuaStream,
        Self::Ours,
    ];

    /// For the table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive: read, then write",
            Self::ByVersion => "optimistic, by version",
            Self::ByStock => "optimistic, stock > 0",
            Self::RowLock => "pessimistic row lock",
            Self::UserMutex => "mutex a user, one process",
            Self::UserMutexTwice => "mutex a user, two processes",
            Self::SetNx => "Redis SETNX lock",
            Self::Watchdog => "re-entrant lock, watchdog",
            Self::Failover => "the same, primary dies",
            Self::Redlock => "Redlock over three Redis",
            Self::LuaQueue => "Lua + queue in the process",
            Self::LuaStream => "Lua + Stream, one by one",
            Self::Ours => "ours: Lua + Stream, batches",
        }
    }

    /// The word by which a child process is told.
    pub(crate) fn word(self) -> String {
        use clap::ValueEnum as _;
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Units for sale: those that ask the database for each attempt get fewer, or the table would take an hour.
    pub(crate) const fn stock(self, quick: bool) -> i64 {
        let units = match self {
            Self::Ours => 40_000,
            Self::LuaQueue | Self::LuaStream => 2_000,
            _ => 500,
        };
        if quick { units / 2 } else { units }
    }
}

/// Opens a strategy in its venue, with a fresh sale.
pub(crate) async fn open(kind: Kind, venue: &Venue) -> Result<Box<dyn Strategy>> {
    Ok(match kind {
        Kind::Naive => Box::new(naive::Naive::new(venue)),
        Kind::ByVersion => Box::new(by_version::ByVersion::new(venue)),
        Kind::ByStock => Box::new(by_stock::ByStock::new(venue)),
        Kind::RowLock => Box::new(row_lock::RowLock::new(venue)),
        Kind::UserMutex => Box::new(user_mutex::UserMutex::processes(venue, 1)),
        Kind::UserMutexTwice => Box::new(user_mutex::UserMutex::processes(venue, 2)),
        Kind::SetNx => Box::new(setnx::SetNx::open(venue).await?),
        Kind::Watchdog => Box::new(watchdog::Watchdog::open(venue).await?),
        Kind::Failover => Box::new(failover::Failover::open(venue).await?),
        Kind::Redlock => Box::new(redlock::Redlock::open(venue)?),
        Kind::LuaQueue => Box::new(lua_queue::LuaQueue::open(venue).await?),
        Kind::LuaStream => Box::new(lua_stream::LuaStream::open(venue).await?),
        Kind::Ours => Box::new(ours::Ours::open(venue).await?),
    })
}
