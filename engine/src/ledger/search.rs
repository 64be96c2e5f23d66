//! Looking orders up, for operators.

use domain::{Order, OrderId, OrderState, Phone, UserId, VoucherId};
use serde::{Deserialize, Serialize};
use sqlx::PgExecutor;

use super::LedgerError;

/// What to look for; what is absent does not narrow the search.
#[derive(Debug, Clone, Default)]
pub struct OrderSearch {
    /// The owner's phone.
    pub phone: Option<Phone>,
    /// The order's id.
    pub id: Option<OrderId>,
    /// Its state.
    pub state: Option<OrderState>,
    /// What was bought.
    pub voucher: Option<VoucherId>,
    /// Only orders with a lower id: the last one of the page before.
    pub before: Option<OrderId>,
}

/// An order as operators see it: the owner's phone is masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundOrder {
    /// Whose.
    pub user_id: UserId,
    /// The phone number with its middle hidden.
    pub phone: String,
    /// The order.
    #[serde(flatten)]
    pub order: Order,
}

/// The newest orders that match, `limit` at most.
pub(crate) async fn search(
    db: impl PgExecutor<'_>,
    wanted: &OrderSearch,
    limit: i64,
) -> Result<Vec<FoundOrder>, LedgerError> {
    let rows = sqlx::query!(
        "SELECT o.id, o.user_id, a.phone, o.voucher_id, v.title, o.state, o.reason, o.created_at, o.updated_at
         FROM voucher_order o JOIN voucher v ON v.id = o.voucher_id JOIN account a ON a.id = o.user_id
         WHERE ($1::text IS NULL OR a.phone = $1) AND ($2::bigint IS NULL OR o.id = $2)
           AND ($3::text IS NULL OR o.state = $3) AND ($4::bigint IS NULL OR o.voucher_id = $4)
           AND ($5::bigint IS NULL OR o.id < $5)
         ORDER BY o.id DESC LIMIT $6",
        wanted.phone.as_ref().map(Phone::as_str),
        wanted.id.map(OrderId::get),
        wanted.state.map(OrderState::word),
        wanted.voucher.map(VoucherId::get),
        wanted.before.map(OrderId::get),
        limit
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(FoundOrder {
                user_id: UserId::new(row.user_id)?,
                phone: super::accounts::masked(&row.phone),
                order: Order {
                    order_id: OrderId::new(row.id)?,
                    voucher_id: VoucherId::new(row.voucher_id)?,
                    title: Some(row.title),
                    state: row.state.parse()?,
                    reason: row.reason.map(|word| word.parse()).transpose()?,
                    ordered_at: row.created_at.into(),
                    updated_at: Some(row.updated_at.into()),
                },
            })
        })
        .collect()
}
