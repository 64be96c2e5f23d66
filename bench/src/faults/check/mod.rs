//! The judge: once the load is off, everybody knows what they have and nothing waits, it compares what clients saw with
//! what both stores hold.

mod evidence;
mod rules;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::{load, shop::Shop, wait};

pub(crate) use evidence::{Evidence, Row};
pub(crate) use rules::INVARIANTS;

/// How long people go on asking once the faults are over.
const ASK_FOR: Duration = Duration::from_secs(30);

/// What a scenario allows apart from the plain case.
#[derive(Debug, Clone)]
pub(crate) struct Expect {
    /// Accepted ids that may be missing from both stores (I12).
    pub(crate) may_lose: usize,
    /// Units that Redis was made to believe in beyond the ledger's.
    pub(crate) extra_units: i64,
    /// Order ids that the scenario put into the stream itself.
    pub(crate) added: BTreeSet<i64>,
    /// The backlog is to be gone within this (`T_settle`).
    pub(crate) settle_within: Duration,
    /// The most deliveries of one entry.
    pub(crate) max_deliveries: i64,
    /// Rest means too that every claim has its order: the sweeper may have to find some.
    pub(crate) swept: bool,
    /// Whether those who were told "sold out" ask once more at the end.
    pub(crate) last_call: bool,
}

impl Default for Expect {
    fn default() -> Self {
        Self {
            may_lose: 0,
            extra_units: 0,
            added: BTreeSet::new(),
            settle_within: Duration::from_secs(30),
            max_deliveries: 20,
            swept: false,
            last_call: true,
        }
    }
}

/// What came of a scenario.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verdict {
    /// What was done, in a few words.
    pub(crate) did: String,
    /// Distinct ids that clients were told.
    pub(crate) accepted: usize,
    /// Live orders.
    pub(crate) settled: usize,
    /// Orders that failed, and whose owners are told.
    pub(crate) failed: usize,
    /// Attempts whose outcome the client did not know.
    pub(crate) unknown: usize,
    /// What is wrong, for each invariant; empty: it held.
    pub(crate) broken: BTreeMap<&'static str, Vec<String>>,
    /// What else was to hold.
    pub(crate) also: Vec<(String, bool)>,
    /// What was measured.
    pub(crate) seen: String,
}

impl Verdict {
    /// Whether all held.
    pub(crate) fn is_sound(&self) -> bool {
        self.broken.values().all(Vec::is_empty) && self.also.iter().all(|(_, holds)| *holds)
    }
}

/// Waits for rest and judges. The load must be over and the servers must run.
pub(crate) async fn judge(mut shop: Shop, expect: Expect) -> anyhow::Result<Verdict> {
    let mut late = Vec::new();
    shop.keep_steward().await?;
    let ports = shop.ports();
    let open = load::resolve(&shop.crowd, &ports, &unsure(&shop), ASK_FOR).await;
    let mut settled = rest(&shop, &expect).await;
    if expect.last_call && settled.is_ok() {
        let last = load::resolve(&shop.crowd, &ports, &refused(&shop), ASK_FOR).await;
        late.extend(last);
        settled = rest(&shop, &expect).await;
    }
    late.extend(open);
    let evidence = Evidence::gather(&shop, expect, settled, late).await?;
    shop.crowd.history.write(&shop.log.join("history.jsonl"))?;
    let broken = INVARIANTS
        .iter()
        .map(|(name, rule)| (*name, rule(&evidence)))
        .collect();
    let unknown = |a: &&crate::history::Attempt| matches!(a.outcome, crate::history::Outcome::Unknown(_));
    Ok(Verdict {
        did: shop.did.join("; "),
        accepted: evidence.accepted.len(),
        settled: evidence.live().count(),
        failed: evidence.failed().count(),
        unknown: evidence.attempts.iter().filter(unknown).count(),
        broken,
        seen: evidence.measured(),
        also: shop.also.clone(),
    })
}

/// Waits until the stream is empty and nothing is pending.
pub(crate) async fn settle(shop: &Shop, within: Duration) -> Result<Duration, String> {
    let empty = wait::until("nothing waits in the stream", within, async || {
        let held = evidence::waiting(&mut shop.redis.connect().await?).await?;
        anyhow::ensure!(held == (0, 0), "{} entries, {} of them pending", held.0, held.1);
        Ok(true)
    });
    empty.await.map_err(|error| format!("{error:#}"))
}

/// Waits for rest, as the scenario means it.
async fn rest(shop: &Shop, expect: &Expect) -> Result<Duration, String> {
    let settled = settle(shop, expect.settle_within).await?;
    if !expect.swept {
        return Ok(settled);
    }
    let swept = wait::until("every claim has its order", expect.settle_within, async || {
        let unlike = evidence::claims_without_order(shop).await?;
        anyhow::ensure!(unlike == 0, "{unlike} have none");
        Ok(true)
    });
    let swept = swept.await.map_err(|error| format!("{error:#}"))?;
    Ok(settled + swept + settle(shop, expect.settle_within).await?)
}

/// People whose last answer left it open.
fn unsure(shop: &Shop) -> Vec<usize> {
    let last = last_outcomes(shop);
    last.into_iter()
        .filter(|(_, (is_final, _))| !is_final)
        .map(|(person, _)| person)
        .collect()
}

/// People who have no order and were refused.
fn refused(shop: &Shop) -> Vec<usize> {
    let last = last_outcomes(shop);
    last.into_iter()
        .filter(|(_, (_, has_order))| !has_order)
        .map(|(person, _)| person)
        .collect()
}

/// For everybody who tried: whether some answer was final after the last open one, and whether they have an order.
fn last_outcomes(shop: &Shop) -> BTreeMap<usize, (bool, bool)> {
    let mut last = BTreeMap::new();
    for attempt in shop.crowd.history.attempts() {
        let has_order = attempt.outcome.order().is_some();
        let entry = last.entry(attempt.person).or_insert((false, false));
        entry.1 |= has_order;
        // Somebody with an order asks again too if a later attempt stayed open: the answer must be the same (I7).
        entry.0 = attempt.outcome.is_final();
    }
    last
}
