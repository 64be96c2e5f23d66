//! The judge is judged: sound evidence passes, and each rule finds what it is for.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Evidence, Expect, INVARIANTS, Row,
    evidence::{Held, Ledger},
};
use crate::{
    history::{Attempt, Outcome, Sighting},
    shop::Sale,
    watch::Extremes,
};

fn attempt(person: usize, at: u64, outcome: Outcome) -> Attempt {
    Attempt {
        person,
        server: 1,
        sent: at,
        ended: at + 5,
        outcome,
    }
}

fn row(id: i64, user_id: i64, state: &str) -> Row {
    Row {
        id,
        user_id,
        state: state.to_owned(),
        reason: (state == "failed").then(|| "no_stock".to_owned()),
    }
}

/// Two units, sold to the accounts 70 and 71; 72 came too late.
fn sound() -> Evidence {
    let told = |state: &str| Ok(Some(state.to_owned()));
    Evidence {
        expect: Expect::default(),
        sale: Sale {
            id: 4,
            units: 2,
            opens: 0,
            closes: 1000,
        },
        people: vec![70, 71, 72],
        attempts: vec![
            attempt(0, 100, Outcome::Queued(500)),
            attempt(1, 110, Outcome::Unknown("reset".into())),
            attempt(1, 130, Outcome::Already(501)),
            attempt(2, 140, Outcome::Refused("sold_out".into())),
        ],
        sightings: Vec::new(),
        extremes: Extremes {
            lowest_stock: Some(0),
            most_live: 2,
            most_of_one: 1,
            ..Extremes::default()
        },
        ledger: Ledger {
            units: 2,
            stock: 0,
            epoch: 1,
            rows: vec![row(500, 70, "confirmed"), row(501, 71, "confirmed")],
            has_index: true,
        },
        held: Held {
            stock: Some(0),
            claims: [(70, 500), (71, 501)].into(),
            ..Held::default()
        },
        accepted: [(500, 0), (501, 1)].into(),
        told: [(500, told("confirmed")), (501, told("confirmed"))].into(),
        settled: Ok(Duration::ZERO),
        late: Vec::new(),
    }
}

/// The names of the rules that find something.
fn broken(evidence: &Evidence) -> Vec<&'static str> {
    let rules: BTreeMap<_, _> = INVARIANTS.into_iter().collect();
    let mut found: Vec<_> = rules
        .into_iter()
        .filter(|(_, rule)| !rule(evidence).is_empty())
        .collect();
    found.sort_unstable_by_key(|(name, _)| name[1..].parse::<u8>().unwrap_or_default());
    found.into_iter().map(|(name, _)| name).collect()
}

#[track_caller]
fn finds(name: &'static str, spoil: impl FnOnce(&mut Evidence)) {
    let mut evidence = sound();
    spoil(&mut evidence);
    assert!(
        broken(&evidence).contains(&name),
        "{name} is not among {:?}",
        broken(&evidence)
    );
}

#[test]
fn sound_evidence_passes() {
    assert_eq!(broken(&sound()), Vec::<&str>::new());
}

#[test]
fn i1_an_oversell_of_a_moment_or_below_zero() {
    finds("I1", |e| e.extremes.most_live = 3);
    finds("I1", |e| e.extremes.lowest_stock = Some(-1));
    finds("I1", |e| e.ledger.stock = -1);
}

#[test]
fn i2_two_orders_of_one_user_in_either_store_or_in_the_answers() {
    finds("I2", |e| e.ledger.rows.push(row(502, 70, "confirmed")));
    finds("I2", |e| e.extremes.most_of_one = 2);
    finds("I2", |e| e.ledger.has_index = false);
    finds("I2", |e| {
        e.accepted.insert(502, 0);
    });
}

#[test]
fn i3_i12_an_accepted_id_that_no_store_knows() {
    let lose = |e: &mut Evidence| {
        e.ledger.rows.remove(0);
        e.ledger.stock = 1;
        e.held.stock = Some(1);
        e.held.claims.remove(&70);
        e.told.insert(500, Ok(None));
    };
    finds("I3", lose);
    finds("I12", lose);
    // Allowed and told honestly: nothing is wrong but that a unit is unsold.
    let mut honest = sound();
    lose(&mut honest);
    honest.expect.may_lose = 1;
    assert_eq!(broken(&honest), ["I10"]);
    finds("I12", |e| {
        lose(e);
        e.expect.may_lose = 1;
        e.told.insert(500, Ok(Some("queued".into())));
    });
}

#[test]
fn i4_i5_a_unit_that_came_back_twice_or_never() {
    let fail = |e: &mut Evidence| {
        e.ledger.rows[0] = row(500, 70, "failed");
        e.ledger.stock = 1;
        e.told.insert(500, Ok(Some("failed".into())));
        e.held.claims.remove(&70);
        e.held.stock = Some(1);
        e.attempts.pop();
    };
    let mut evidence = sound();
    fail(&mut evidence);
    assert_eq!(broken(&evidence), Vec::<&str>::new());
    for (stock, rule) in [(2, "I4"), (2, "I5"), (0, "I5")] {
        finds(rule, |e| {
            fail(e);
            e.held.stock = Some(stock);
        });
    }
    finds("I4", |e| {
        fail(e);
        e.held.claims.insert(70, 500);
    });
}

#[test]
fn i6_an_order_that_nobody_was_told_or_a_claim_of_nothing() {
    finds("I6", |e| {
        e.accepted.remove(&501);
    });
    finds("I6", |e| {
        e.held.claims.insert(71, 999);
    });
    finds("I6", |e| e.attempts.push(attempt(2, 200, Outcome::Already(500))));
}

#[test]
fn i7_another_answer_to_the_same_wish() {
    finds("I7", |e| e.attempts.push(attempt(0, 200, Outcome::Queued(777))));
    finds("I7", |e| {
        e.attempts
            .push(attempt(0, 200, Outcome::Refused("sold_out".into())));
    });
}

#[test]
fn i8_a_state_that_is_not_so_or_goes_back() {
    finds("I8", |e| {
        e.told.insert(500, Ok(Some("queued".into())));
    });
    let sighting = |state: &str, sent| Sighting {
        person: 0,
        order: 500,
        state: state.to_owned(),
        sent,
        told: sent + 1,
    };
    finds("I8", |e| {
        e.sightings
            .extend([sighting("confirmed", 10), sighting("queued", 20)]);
    });
    let mut late = sound();
    late.sightings
        .extend([sighting("queued", 5), sighting("confirmed", 10)]);
    assert_eq!(broken(&late), Vec::<&str>::new());
}

#[test]
fn i9_i10_i11_no_rest_no_sale_no_window() {
    finds("I9", |e| e.settled = Err("never".into()));
    finds("I9", |e| e.late.push(2));
    finds("I9", |e| e.extremes.most_deliveries = 100);
    finds("I10", |e| e.sale.units = 3);
    finds("I11", |e| e.sale.opens = 200);
    finds("I11", |e| e.sale.closes = 50);
}
