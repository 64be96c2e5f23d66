//! Reading orders.

use domain::{Order, OrderId, OrderState, UserId, VoucherId};
use sqlx::PgExecutor;

use super::LedgerError;

struct Raw {
    id: i64,
    voucher_id: i64,
    title: String,
    state: String,
    reason: Option<String>,
    created_at: time::OffsetDateTime,
    updated_at: time::OffsetDateTime,
}

impl TryFrom<Raw> for Order {
    type Error = LedgerError;

    fn try_from(raw: Raw) -> Result<Self, LedgerError> {
        Ok(Self {
            order_id: OrderId::new(raw.id)?,
            voucher_id: VoucherId::new(raw.voucher_id)?,
            title: Some(raw.title),
            state: raw.state.parse()?,
            reason: raw.reason.map(|word| word.parse()).transpose()?,
            ordered_at: raw.created_at.into(),
            updated_at: Some(raw.updated_at.into()),
        })
    }
}

/// The user's orders, newest first.
pub(crate) async fn of_user(
    db: impl PgExecutor<'_>,
    user: UserId,
    limit: i64,
) -> Result<Vec<Order>, LedgerError> {
    let rows = sqlx::query_as!(
        Raw,
        "SELECT o.id, o.voucher_id, v.title, o.state, o.reason, o.created_at, o.updated_at
         FROM voucher_order o JOIN voucher v ON v.id = o.voucher_id
         WHERE o.user_id = $1 ORDER BY o.id DESC LIMIT $2",
        user.get(),
        limit
    )
    .fetch_all(db)
    .await?;
    rows.into_iter().map(Order::try_from).collect()
}

/// One order, if it is the user's.
pub(crate) async fn by_id(
    db: impl PgExecutor<'_>,
    user: UserId,
    id: OrderId,
) -> Result<Option<Order>, LedgerError> {
    let row = sqlx::query_as!(
        Raw,
        "SELECT o.id, o.voucher_id, v.title, o.state, o.reason, o.created_at, o.updated_at
         FROM voucher_order o JOIN voucher v ON v.id = o.voucher_id
         WHERE o.id = $1 AND o.user_id = $2",
        id.get(),
        user.get()
    )
    .fetch_optional(db)
    .await?;
    row.map(Order::try_from).transpose()
}

/// The user's newest order for a voucher.
pub(crate) async fn newest_for(
    db: impl PgExecutor<'_>,
    user: UserId,
    voucher: VoucherId,
) -> Result<Option<Order>, LedgerError> {
    let row = sqlx::query_as!(
        Raw,
        "SELECT o.id, o.voucher_id, v.title, o.state, o.reason, o.created_at, o.updated_at
         FROM voucher_order o JOIN voucher v ON v.id = o.voucher_id
         WHERE o.user_id = $1 AND o.voucher_id = $2 ORDER BY o.id DESC LIMIT 1",
        user.get(),
        voucher.get()
    )
    .fetch_optional(db)
    .await?;
    row.map(Order::try_from).transpose()
}

/// Who holds a live order of a voucher.
pub(crate) async fn claims(
    db: impl PgExecutor<'_>,
    voucher: VoucherId,
) -> Result<Vec<(UserId, OrderId)>, LedgerError> {
    let rows = sqlx::query!(
        "SELECT user_id, id FROM voucher_order
         WHERE voucher_id = $1 AND state IN ('confirmed', 'paid', 'used')",
        voucher.get()
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| Ok((UserId::new(row.user_id)?, OrderId::new(row.id)?)))
        .collect()
}

/// Where these orders stand, in their order: `None` for one without a row; else its state, and the live order that its
/// user holds for the same voucher.
pub(crate) async fn states(
    db: impl PgExecutor<'_>,
    orders: &[(UserId, OrderId)],
) -> Result<Vec<Option<(OrderState, Option<OrderId>)>>, LedgerError> {
    if orders.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = orders.iter().map(|(_, id)| id.get()).collect();
    let users: Vec<i64> = orders.iter().map(|(user, _)| user.get()).collect();
    let rows = sqlx::query!(
        r#"SELECT o.state AS "state?", live.id AS "live?"
           FROM UNNEST($1::bigint[], $2::bigint[]) WITH ORDINALITY AS e (id, user_id, place)
           LEFT JOIN voucher_order o ON o.id = e.id AND o.user_id = e.user_id
           LEFT JOIN voucher_order live ON live.user_id = o.user_id AND live.voucher_id = o.voucher_id
                AND live.state IN ('confirmed', 'paid', 'used')
           ORDER BY e.place"#,
        &ids,
        &users
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            let Some(state) = row.state else { return Ok(None) };
            Ok(Some((state.parse()?, row.live.map(OrderId::new).transpose()?)))
        })
        .collect()
}

/// The newest order of all.
pub(crate) async fn newest(db: impl PgExecutor<'_>) -> Result<Option<OrderId>, LedgerError> {
    let id = sqlx::query_scalar!("SELECT max(id) FROM voucher_order")
        .fetch_one(db)
        .await?;
    Ok(id.map(OrderId::new).transpose()?)
}
