//! The invariants, one function each. Each says what is wrong, exactly and never on suspicion; nothing: it held.

use std::collections::{BTreeMap, BTreeSet};

use super::Evidence;
use crate::history::{Attempt, Outcome};

/// Examples shown of one kind.
const SHOWN: usize = 3;
/// The harness reads the clock of Redis a little late.
const CLOCK_TOLERANCE: i64 = 10;

/// A rule: what is wrong.
type Rule = fn(&Evidence) -> Vec<String>;

/// All of them, by name.
pub(crate) const INVARIANTS: [(&str, Rule); 12] = [
    ("I1", no_oversell),
    ("I2", one_each),
    ("I3", nothing_accepted_is_forgotten),
    ("I4", failed_gave_back_once),
    ("I5", units_add_up),
    ("I6", nothing_invented),
    ("I7", the_same_answer),
    ("I8", told_what_is),
    ("I9", progress),
    ("I10", nothing_unsold),
    ("I11", window),
    ("I12", honest_losses),
];

/// Collects what is wrong.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.0.push(text());
        }
    }

    /// One line for all of a kind, with a few examples.
    fn each<T: std::fmt::Debug>(&mut self, what: &str, found: &[T]) {
        if !found.is_empty() {
            let shown = &found[..found.len().min(SHOWN)];
            self.0.push(format!("{} {what}, such as {shown:?}", found.len()));
        }
    }
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn no_oversell(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let live = count(e.live().count()).max(e.extremes.most_live);
    wrong.unless(live <= e.sale.units, || {
        format!("{live} live orders of {} units", e.sale.units)
    });
    let lowest = [e.extremes.lowest_stock, e.held.stock]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(0);
    wrong.unless(lowest >= 0, || format!("the stock in Redis fell to {lowest}"));
    wrong.unless(e.ledger.stock >= 0, || {
        format!("the stock in the ledger is {}", e.ledger.stock)
    });
    wrong.0
}

fn one_each(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    wrong.unless(e.ledger.has_index, || "the unique index is gone".into());
    let mut live: BTreeMap<i64, usize> = BTreeMap::new();
    for row in e.live() {
        *live.entry(row.user_id).or_default() += 1;
    }
    let twice: Vec<i64> = live
        .into_iter()
        .filter(|(_, n)| *n > 1)
        .map(|(user, _)| user)
        .collect();
    wrong.each("users with two live orders", &twice);
    wrong.unless(e.extremes.most_of_one <= 1, || {
        format!(
            "one user held {} live orders for a moment",
            e.extremes.most_of_one
        )
    });
    let spent = spent(e);
    let mut by_person: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for (id, person) in &e.accepted {
        if !spent.contains(id) {
            by_person.entry(*person).or_default().push(*id);
        }
    }
    let twice: Vec<_> = by_person.into_iter().filter(|(_, ids)| ids.len() > 1).collect();
    wrong.each("people were told two orders", &twice);
    // Without a loss of data the script alone keeps everybody at one: the ledger must never have to.
    if e.expect.may_lose == 0 {
        let duplicates: Vec<_> = e
            .failed()
            .filter(|row| row.reason.as_deref() == Some("duplicate") && !e.expect.added.contains(&row.id))
            .map(|row| row.id)
            .collect();
        wrong.each("second orders reached the ledger", &duplicates);
    }
    wrong.0
}

/// Ids that were told and hold nothing any more: failed and told so, or lost where losses are allowed.
fn spent(e: &Evidence) -> BTreeSet<i64> {
    let failed = e
        .failed()
        .filter(|row| e.expect.may_lose > 0 || row.reason.as_deref() != Some("duplicate"));
    let mut spent: BTreeSet<i64> = failed.map(|row| row.id).collect();
    if e.expect.may_lose > 0 {
        spent.extend(e.lost());
    }
    spent
}

fn nothing_accepted_is_forgotten(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let lost: Vec<i64> = e.lost().into_iter().collect();
    if lost.len() > e.expect.may_lose {
        wrong.each("accepted ids are neither an order nor a told failure", &lost);
    }
    wrong.0
}

fn failed_gave_back_once(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let claims: BTreeSet<i64> = e.held.claims.values().copied().collect();
    let kept: Vec<i64> = e
        .failed()
        .map(|row| row.id)
        .filter(|id| claims.contains(id))
        .collect();
    wrong.each("failed orders still hold their user's claim", &kept);
    if let Some(stock) = e.held.stock {
        let over = stock + count(e.held.claims.len()) - e.sale.units - e.expect.extra_units;
        wrong.unless(over <= 0, || format!("{over} units came back twice"));
    }
    wrong.0
}

fn units_add_up(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let live = count(e.live().count());
    wrong.unless(e.ledger.units == e.sale.units, || {
        format!(
            "the ledger has {} units, {} were published",
            e.ledger.units, e.sale.units
        )
    });
    wrong.unless(e.ledger.stock + live == e.sale.units, || {
        format!(
            "ledger: {} left + {live} orders, of {} units",
            e.ledger.stock, e.sale.units
        )
    });
    match e.held.stock {
        None => wrong.0.push("Redis does not hold the sale".into()),
        Some(stock) => {
            let waiting = i64::try_from(e.held.entries).unwrap_or(i64::MAX);
            let (sum, all) = (stock + live + waiting, e.sale.units + e.expect.extra_units);
            wrong.unless(sum == all, || {
                format!("{stock} left + {live} orders + {waiting} waiting = {sum}, not {all}")
            });
        }
    }
    wrong.0
}

fn nothing_invented(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let open: BTreeSet<i64> = e.late.iter().map(|person| e.people[*person]).collect();
    let known = |row: &&super::Row| {
        let owner = e.accepted.get(&row.id).map(|person| e.people[*person]);
        owner == Some(row.user_id) || e.expect.added.contains(&row.id) || open.contains(&row.user_id)
    };
    let invented: Vec<(i64, i64)> = e
        .live()
        .filter(|row| !known(row))
        .map(|row| (row.id, row.user_id))
        .collect();
    wrong.each("orders that nobody was told", &invented);
    let shared: Vec<_> = e
        .attempts
        .iter()
        .filter_map(|attempt| Some((attempt.outcome.order()?, attempt.person)))
        .filter(|(id, person)| e.accepted.get(id) != Some(person))
        .collect();
    wrong.each("ids were told to two people", &shared);
    if e.held.stock.is_some() {
        let claims = &e.held.claims;
        let bare: Vec<i64> = e
            .live()
            .filter(|row| claims.get(&row.user_id) != Some(&row.id))
            .map(|row| row.id)
            .collect();
        wrong.each("live orders without a claim in Redis", &bare);
        let live: BTreeSet<i64> = e.live().map(|row| row.id).collect();
        let empty: Vec<_> = claims.iter().filter(|(_, id)| !live.contains(id)).collect();
        if e.held.entries == 0 {
            wrong.each("claims without an order", &empty);
        }
    }
    wrong.0
}

fn the_same_answer(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let spent = spent(e);
    // The first answer with an order, by person, of those orders that still hold.
    let mut first: BTreeMap<usize, (i64, u64)> = BTreeMap::new();
    let mut other = Vec::new();
    let mut by_end: Vec<&Attempt> = e.attempts.iter().collect();
    by_end.sort_by_key(|attempt| attempt.ended);
    for attempt in by_end {
        let held = first.get(&attempt.person).copied();
        match (&attempt.outcome, held) {
            (Outcome::Queued(id) | Outcome::Already(id), None) if !spent.contains(id) => {
                first.insert(attempt.person, (*id, attempt.ended));
            }
            (Outcome::Queued(id) | Outcome::Already(id), Some((held, _)))
                if *id != held && !spent.contains(id) =>
            {
                other.push((attempt.person, held, *id));
            }
            // Asked after the order was told, and refused: the shop forgot it.
            (Outcome::Refused(code), Some((held, since))) if attempt.sent > since => {
                wrong.0.push(format!(
                    "person {} has order {held} and was told {code}",
                    attempt.person
                ));
            }
            _ => {}
        }
    }
    wrong.each("people got another id for the same wish", &other);
    wrong.0.truncate(SHOWN * 2);
    wrong.0
}

fn told_what_is(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let rows: BTreeMap<i64, &str> = e
        .ledger
        .rows
        .iter()
        .map(|row| (row.id, row.state.as_str()))
        .collect();
    let lost = e.lost();
    let mut differ = Vec::new();
    for (id, told) in &e.told {
        let is = rows.get(id).copied();
        match told {
            Ok(told) if told.as_deref() == is => {}
            // Both are honest words for an order that no store knows.
            Ok(None) if lost.contains(id) => {}
            Ok(Some(state)) if lost.contains(id) && state == "failed" => {}
            other => differ.push((*id, is, other.clone())),
        }
    }
    wrong.each("orders are told otherwise than they are", &differ);
    let mut finals: BTreeMap<i64, (String, u64)> = BTreeMap::new();
    let mut back = Vec::new();
    let mut sightings: Vec<_> = e.sightings.iter().collect();
    sightings.sort_by_key(|sighting| sighting.told);
    for seen in sightings {
        match finals.get(&seen.order) {
            Some((state, since)) if *state != seen.state && seen.sent > *since => {
                back.push((seen.order, state.clone(), seen.state.clone()));
            }
            None if seen.state != "queued" => {
                finals.insert(seen.order, (seen.state.clone(), seen.told));
            }
            _ => {}
        }
    }
    wrong.each("orders went back from a final state", &back);
    wrong.0
}

fn progress(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    if let Err(why) = &e.settled {
        wrong.0.push(why.clone());
    }
    wrong.each("people never got a final answer", &e.late);
    let (most, max) = (e.extremes.most_deliveries, e.expect.max_deliveries);
    wrong.unless(most <= max, || {
        format!("an entry was delivered {most} times, at most {max} are fair")
    });
    wrong.0
}

fn nothing_unsold(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    if !e.expect.last_call || e.settled.is_err() {
        return wrong.0;
    }
    // Everybody without an order asked once more at rest. Somebody who is told "sold out" then proves that none is left.
    let mut last: BTreeMap<usize, &Outcome> = BTreeMap::new();
    for attempt in &e.attempts {
        last.insert(attempt.person, &attempt.outcome);
    }
    let sold_out = last
        .values()
        .filter(|o| matches!(o, Outcome::Refused(code) if code == "sold_out"))
        .count();
    let live = count(e.live().count());
    let unsold = e.sale.units - live;
    wrong.unless(sold_out == 0 || unsold <= 0, || {
        format!("{sold_out} people were told \"sold out\" while {unsold} units are unsold")
    });
    wrong.0
}

fn window(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let at = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
    let outside: Vec<(u64, u64)> = e
        .attempts
        .iter()
        .filter(|attempt| matches!(attempt.outcome, Outcome::Queued(_)))
        .filter(|attempt| {
            at(attempt.ended) < e.sale.opens - CLOCK_TOLERANCE
                || at(attempt.sent) > e.sale.closes + CLOCK_TOLERANCE
        })
        .map(|attempt| (attempt.sent, attempt.ended))
        .collect();
    wrong.each("units were sold outside of the window", &outside);
    wrong.0
}

fn honest_losses(e: &Evidence) -> Vec<String> {
    let mut wrong = Wrong::default();
    let lost = e.lost();
    wrong.unless(lost.len() <= e.expect.may_lose, || {
        format!(
            "{} accepted ids are lost, at most {} may be",
            lost.len(),
            e.expect.may_lose
        )
    });
    let vague: Vec<_> = lost
        .iter()
        .filter(|id| match e.told.get(id) {
            Some(Ok(told)) => told.as_deref().is_some_and(|state| state != "failed"),
            _ => true,
        })
        .collect();
    wrong.each("lost orders are neither told failed nor told unknown", &vague);
    wrong.0
}
