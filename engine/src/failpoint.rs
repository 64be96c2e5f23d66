//! Places at which tests make a process fail, and rules that tests switch off to see that the checker notices. Compiled
//! with the feature `failpoints` alone; without it everything here is nothing.

/// What is to fail, and which rule is broken on purpose.
#[derive(Debug, Clone, Default)]
pub struct FailPoints {
    #[cfg(feature = "failpoints")]
    plan: Option<std::sync::Arc<plan::Plan>>,
    #[cfg(feature = "failpoints")]
    sabotage: Option<Sabotage>,
}

/// A rule that a test build can break (K57).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// The script does not look for an earlier order of the user.
    NoClaimCheck,
    /// The script does not look at the stock.
    NoStockCheck,
    /// The script does not look at the window.
    NoWindowCheck,
    /// Entries are acknowledged before the transaction.
    AckBeforeCommit,
    /// A give-back does not look whether it was made already.
    GiveBackTwice,
}

impl FailPoints {
    /// Reads a plan such as `C4:abort:nth=17` (also `every=50`, and `C2:pause:ms=3000`), and the name of a broken rule
    /// such as `ack_before_commit`. Says what is wrong with them.
    #[cfg(feature = "failpoints")]
    pub fn parse(plan: Option<&str>, sabotage: Option<&str>) -> Result<Self, String> {
        let plan = plan.map(plan::Plan::parse).transpose()?.map(std::sync::Arc::new);
        let sabotage = sabotage.map(Sabotage::parse).transpose()?;
        Ok(Self { plan, sabotage })
    }

    /// Passes a point. The process may end here.
    #[cfg(feature = "failpoints")]
    pub(crate) async fn hit(&self, point: &'static str) {
        if let Some(plan) = &self.plan {
            plan.hit(point).await;
        }
    }

    /// Passes a point.
    #[cfg(not(feature = "failpoints"))]
    #[expect(clippy::unused_self, reason = "the same shape as in test builds")]
    pub(crate) fn hit(&self, _point: &'static str) -> std::future::Ready<()> {
        std::future::ready(())
    }

    /// Whether this rule is broken on purpose.
    #[cfg(feature = "failpoints")]
    pub(crate) fn breaks(&self, rule: Sabotage) -> bool {
        self.sabotage == Some(rule)
    }

    /// Whether this rule is broken on purpose.
    #[cfg(not(feature = "failpoints"))]
    #[expect(clippy::unused_self, reason = "the same shape as in test builds")]
    pub(crate) const fn breaks(&self, _rule: Sabotage) -> bool {
        false
    }
}

#[cfg(feature = "failpoints")]
impl Sabotage {
    fn parse(name: &str) -> Result<Self, String> {
        match name {
            "no_claim_check" => Ok(Self::NoClaimCheck),
            "no_stock_check" => Ok(Self::NoStockCheck),
            "no_window_check" => Ok(Self::NoWindowCheck),
            "ack_before_commit" => Ok(Self::AckBeforeCommit),
            "give_back_twice" => Ok(Self::GiveBackTwice),
            other => Err(format!("no rule is called {other:?}")),
        }
    }
}

#[cfg(feature = "failpoints")]
mod plan {
    use std::{
        sync::atomic::{AtomicU64, Ordering},
        time::Duration,
    };

    /// One point, one action, and when.
    #[derive(Debug)]
    pub(super) struct Plan {
        point: String,
        action: Action,
        /// The first passing that acts, and after it each `every`-th one; 0: never again.
        nth: u64,
        every: u64,
        passed: AtomicU64,
    }

    #[derive(Debug)]
    enum Action {
        Abort,
        Panic,
        Pause(Duration),
    }

    impl Plan {
        pub(super) fn parse(text: &str) -> Result<Self, String> {
            let mut parts = text.split(':');
            let (Some(point), Some(action)) = (parts.next(), parts.next()) else {
                return Err(format!("{text:?} is not POINT:ACTION[:name=number]"));
            };
            let (mut nth, mut every, mut ms) = (1, 0, 1000);
            for option in parts {
                let (name, value) = option
                    .split_once('=')
                    .ok_or_else(|| format!("{option:?} is not name=number"))?;
                let value = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
                match name {
                    "nth" => nth = value,
                    "every" => (nth, every) = (value, value),
                    "ms" => ms = value,
                    _ => return Err(format!("unknown option {name:?}")),
                }
            }
            let action = match action {
                "abort" => Action::Abort,
                "panic" => Action::Panic,
                "pause" => Action::Pause(Duration::from_millis(ms)),
                other => return Err(format!("unknown action {other:?}")),
            };
            Ok(Self {
                point: point.to_owned(),
                action,
                nth,
                every,
                passed: AtomicU64::new(0),
            })
        }

        pub(super) async fn hit(&self, point: &str) {
            if point != self.point {
                return;
            }
            let n = self.passed.fetch_add(1, Ordering::Relaxed) + 1;
            let again = self.every > 0 && n > self.nth && (n - self.nth).is_multiple_of(self.every);
            if n == self.nth || again {
                match self.action {
                    Action::Abort => std::process::abort(),
                    Action::Panic => panic!("failpoint {point}"),
                    Action::Pause(span) => tokio::time::sleep(span).await,
                }
            }
        }
    }
}
