//! Turning queued orders into rows, a batch in one transaction.

use std::collections::{BTreeMap, HashMap, HashSet, hash_map::Entry};

use domain::{FailReason, OrderId, OrderState, Timestamp, UserId, VoucherId};
use sqlx::PgConnection;

use super::LedgerError;

/// A queued order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Queued {
    pub(crate) order: OrderId,
    pub(crate) user: UserId,
    pub(crate) voucher: VoucherId,
    /// The epoch under which Redis decided it; absent: the current one.
    pub(crate) epoch: Option<i64>,
}

/// What became of a queued order once the transaction is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is a row now.
    Confirmed,
    /// An earlier delivery settled it, and it did not fail.
    Settled(OrderState),
    /// It failed, now or earlier; its unit is to go back, once. `instead` is the live order that its user holds.
    Failed {
        reason: FailReason,
        instead: Option<OrderId>,
    },
    /// There is no row to tell its owner: the voucher is unknown, or the id belongs to somebody else's order.
    Unwritable,
}

/// Settles `batch`. The answer has an element for each, in order. Nothing holds until the caller commits.
///
/// Sales are locked in the order of their ids before anything else, as everywhere: no two settles deadlock (R15).
pub(crate) async fn settle(db: &mut PgConnection, batch: &[Queued]) -> Result<Vec<Fate>, LedgerError> {
    let distinct = distinct(batch);
    let sales = lock_sales(db, &distinct).await?;
    // An order of an earlier epoch comes too late: the sale was rebuilt without it, and its unit is somebody else's.
    let stale = |queued: &Queued| {
        sales
            .get(&queued.voucher.get())
            .is_some_and(|sale| queued.epoch.is_some_and(|epoch| epoch < sale.epoch))
    };
    let timely: Vec<Queued> = distinct.iter().copied().filter(|queued| !stale(queued)).collect();
    let inserted = insert_confirmed(db, &timely).await?;

    let mut fates: HashMap<Key, Fate> = HashMap::with_capacity(distinct.len());
    let mut taken: BTreeMap<i64, i32> = BTreeMap::new();
    let mut surplus: Vec<i64> = Vec::new();
    for queued in distinct.iter().filter(|queued| inserted.contains(&queued.key())) {
        let n = taken.entry(queued.voucher.get()).or_default();
        if *n < sales.get(&queued.voucher.get()).map_or(0, |sale| sale.stock) {
            *n += 1;
            fates.insert(queued.key(), Fate::Confirmed);
        } else {
            surplus.push(queued.order.get());
            fates.insert(
                queued.key(),
                Fate::Failed {
                    reason: FailReason::NoStock,
                    instead: None,
                },
            );
        }
    }
    if !surplus.is_empty() {
        fail_rows(db, &surplus).await?;
    }
    take_stock(db, &taken).await?;

    let rest: Vec<Queued> = distinct
        .into_iter()
        .filter(|queued| !inserted.contains(&queued.key()))
        .collect();
    if !rest.is_empty() {
        let explained = explain(db, &rest, &sales).await?;
        let failed: Vec<(Queued, FailReason)> = explained
            .iter()
            .filter_map(|(queued, fate, written)| match fate {
                Fate::Failed { reason, .. } if !written => Some((*queued, *reason)),
                _ => None,
            })
            .collect();
        insert_failed(db, &failed).await?;
        fates.extend(
            explained
                .into_iter()
                .map(|(queued, fate, _)| (queued.key(), fate)),
        );
    }
    Ok(batch
        .iter()
        .map(|queued| fates.get(&queued.key()).copied().unwrap_or(Fate::Unwritable))
        .collect())
}

/// Writes a failed row for an order that the database refused by itself, so that its owner is told. `false`: there is
/// nobody to tell, the voucher or the account is unknown.
pub(crate) async fn reject(db: &mut PgConnection, queued: &Queued) -> Result<bool, LedgerError> {
    let done = sqlx::query!(
        "INSERT INTO voucher_order (id, user_id, voucher_id, state, reason, created_at)
         SELECT $1, a.id, s.voucher_id, 'failed', 'rejected', $4
         FROM account a, seckill_voucher s WHERE a.id = $2 AND s.voucher_id = $3
         ON CONFLICT (id) DO NOTHING",
        queued.order.get(),
        queued.user.get(),
        queued.voucher.get(),
        minted(queued.order)
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

struct Sale {
    stock: i32,
    epoch: i64,
}

/// What an order is told apart by.
type Key = (i64, i64, i64);

impl Queued {
    const fn key(&self) -> Key {
        (self.order.get(), self.user.get(), self.voucher.get())
    }
}

/// Each order once, in order: a delivery may hold an entry twice (K16), also under two epochs where it was queued again.
/// The later epoch counts.
fn distinct(batch: &[Queued]) -> Vec<Queued> {
    let mut places: HashMap<Key, usize> = HashMap::with_capacity(batch.len());
    let mut distinct: Vec<Queued> = Vec::with_capacity(batch.len());
    for queued in batch {
        match places.entry(queued.key()) {
            Entry::Vacant(place) => {
                place.insert(distinct.len());
                distinct.push(*queued);
            }
            Entry::Occupied(place) => {
                let first = &mut distinct[*place.get()];
                first.epoch = first.epoch.zip(queued.epoch).map(|(one, other)| one.max(other));
            }
        }
    }
    distinct
}

/// Units left of each sale in the batch, which no other writer changes until the transaction ends.
async fn lock_sales(db: &mut PgConnection, batch: &[Queued]) -> Result<HashMap<i64, Sale>, LedgerError> {
    let mut vouchers: Vec<i64> = batch.iter().map(|queued| queued.voucher.get()).collect();
    vouchers.sort_unstable();
    vouchers.dedup();
    let rows = sqlx::query!(
        "SELECT voucher_id, stock, epoch FROM seckill_voucher WHERE voucher_id = ANY($1)
         ORDER BY voucher_id FOR NO KEY UPDATE",
        &vouchers
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            (
                row.voucher_id,
                Sale {
                    stock: row.stock,
                    epoch: row.epoch,
                },
            )
        })
        .collect())
}

/// Inserts what can be inserted; the answer holds what was. The join leaves orders for unknown vouchers out, so that one
/// of them does not sink the batch.
async fn insert_confirmed(db: &mut PgConnection, batch: &[Queued]) -> Result<HashSet<Key>, LedgerError> {
    let Columns {
        ids,
        users,
        vouchers,
        times,
    } = columns(batch);
    let rows = sqlx::query!(
        "INSERT INTO voucher_order (id, user_id, voucher_id, state, created_at)
         SELECT e.id, e.user_id, e.voucher_id, 'confirmed', e.created_at
         FROM UNNEST($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS e (id, user_id, voucher_id, created_at)
         JOIN seckill_voucher s ON s.voucher_id = e.voucher_id
         ON CONFLICT DO NOTHING
         RETURNING id, user_id, voucher_id",
        &ids,
        &users,
        &vouchers,
        &times
    )
    .fetch_all(db)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.id, row.user_id, row.voucher_id))
        .collect())
}

/// Takes back rows for which the ledger has no unit: Redis believed in more than there are.
async fn fail_rows(db: &mut PgConnection, orders: &[i64]) -> Result<(), LedgerError> {
    let done = sqlx::query!(
        "UPDATE voucher_order SET state = 'failed', reason = 'no_stock' WHERE id = ANY($1) AND state = 'confirmed'",
        orders
    )
    .execute(db)
    .await?;
    expect_rows("failing orders without stock", done.rows_affected(), orders.len())
}

/// One conditional update a voucher.
async fn take_stock(db: &mut PgConnection, taken: &BTreeMap<i64, i32>) -> Result<(), LedgerError> {
    let (vouchers, units): (Vec<i64>, Vec<i32>) = taken
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(v, n)| (*v, *n))
        .unzip();
    if vouchers.is_empty() {
        return Ok(());
    }
    let done = sqlx::query!(
        "UPDATE seckill_voucher s SET stock = s.stock - e.units
         FROM UNNEST($1::bigint[], $2::integer[]) AS e (voucher_id, units)
         WHERE s.voucher_id = e.voucher_id AND s.stock >= e.units",
        &vouchers,
        &units
    )
    .execute(db)
    .await?;
    expect_rows("taking stock", done.rows_affected(), vouchers.len())
}

/// Why the insert left these out, and whether the order has a row already.
async fn explain(
    db: &mut PgConnection,
    rest: &[Queued],
    sales: &HashMap<i64, Sale>,
) -> Result<Vec<(Queued, Fate, bool)>, LedgerError> {
    let Columns {
        ids, users, vouchers, ..
    } = columns(rest);
    let rows = sqlx::query!(
        r#"SELECT o.state AS "state?", o.reason AS "reason?",
                  (o.user_id = e.user_id AND o.voucher_id = e.voucher_id) AS "own?", live.id AS "live?"
           FROM UNNEST($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS e (id, user_id, voucher_id, place)
           LEFT JOIN voucher_order o ON o.id = e.id
           LEFT JOIN voucher_order live ON live.user_id = e.user_id AND live.voucher_id = e.voucher_id
                AND live.state IN ('confirmed', 'paid', 'used')
           ORDER BY e.place"#,
        &ids,
        &users,
        &vouchers
    )
    .fetch_all(db)
    .await?;
    expect_rows("explaining orders", rows.len() as u64, rest.len())?;
    let mut explained = Vec::with_capacity(rest.len());
    for (queued, row) in rest.iter().zip(rows) {
        let live = row.live.map(OrderId::new).transpose()?;
        let fate = match (row.own, row.state.as_deref().map(str::parse).transpose()?) {
            (Some(true), Some(OrderState::Failed)) => {
                let reason = row
                    .reason
                    .as_deref()
                    .map(str::parse)
                    .transpose()?
                    .unwrap_or(FailReason::Rejected);
                Fate::Failed {
                    reason,
                    instead: live,
                }
            }
            (Some(true), Some(state)) => Fate::Settled(state),
            // The id is another order's: there is no row in which to tell.
            (Some(false), _) => Fate::Unwritable,
            _ if live.is_some() => Fate::Failed {
                reason: FailReason::Duplicate,
                instead: live,
            },
            _ if sales.contains_key(&queued.voucher.get()) => Fate::Failed {
                reason: FailReason::Rejected,
                instead: None,
            },
            _ => Fate::Unwritable,
        };
        explained.push((*queued, fate, row.own == Some(true)));
    }
    Ok(explained)
}

/// Writes rows for failed orders, so that their owners can be told.
async fn insert_failed(db: &mut PgConnection, failed: &[(Queued, FailReason)]) -> Result<(), LedgerError> {
    if failed.is_empty() {
        return Ok(());
    }
    let orders: Vec<Queued> = failed.iter().map(|(queued, _)| *queued).collect();
    let reasons: Vec<String> = failed
        .iter()
        .map(|(_, reason)| reason.word().to_owned())
        .collect();
    let Columns {
        ids,
        users,
        vouchers,
        times,
    } = columns(&orders);
    let done = sqlx::query!(
        "INSERT INTO voucher_order (id, user_id, voucher_id, state, reason, created_at)
         SELECT e.id, e.user_id, e.voucher_id, 'failed', e.reason, e.created_at
         FROM UNNEST($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::timestamptz[])
              AS e (id, user_id, voucher_id, reason, created_at)",
        &ids,
        &users,
        &vouchers,
        &reasons,
        &times
    )
    .execute(db)
    .await?;
    expect_rows("writing failed orders", done.rows_affected(), failed.len())
}

struct Columns {
    ids: Vec<i64>,
    users: Vec<i64>,
    vouchers: Vec<i64>,
    times: Vec<time::OffsetDateTime>,
}

fn columns(batch: &[Queued]) -> Columns {
    Columns {
        ids: batch.iter().map(|queued| queued.order.get()).collect(),
        users: batch.iter().map(|queued| queued.user.get()).collect(),
        vouchers: batch.iter().map(|queued| queued.voucher.get()).collect(),
        times: batch.iter().map(|queued| minted(queued.order)).collect(),
    }
}

fn minted(order: OrderId) -> time::OffsetDateTime {
    Timestamp::from_millis(order.unix_seconds() * 1000).into()
}

fn expect_rows(what: &str, got: u64, wanted: usize) -> Result<(), LedgerError> {
    if got == wanted as u64 {
        Ok(())
    } else {
        Err(LedgerError::Broken(format!("{what}: {got} rows of {wanted}")))
    }
}
