//! Waiting for a condition, never for a time.

use std::time::Duration;

use anyhow::bail;
use tokio::time::Instant;

/// Between two looks at a condition.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Waits until `holds` says so, and tells how long that took. A look that fails counts as "not yet"; the last failure is
/// part of the error when time is up.
pub(crate) async fn until(
    what: &str,
    within: Duration,
    mut holds: impl AsyncFnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<Duration> {
    let began = Instant::now();
    loop {
        let left = within.saturating_sub(began.elapsed());
        let trouble = match tokio::time::timeout(left.max(LOOK_EVERY), holds()).await {
            Ok(Ok(true)) => return Ok(began.elapsed()),
            Ok(Ok(false)) => None,
            Ok(Err(error)) => Some(error),
            Err(_) => Some(anyhow::anyhow!("a look did not end")),
        };
        if began.elapsed() >= within {
            match trouble {
                Some(error) => bail!("{what}: not within {within:.1?} ({error:#})"),
                None => bail!("{what}: not within {within:.1?}"),
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
