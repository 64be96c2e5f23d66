//! Vouchers and their sales.

use domain::{Control, EditedSale, NewSale, SaleWindow, Timestamp, VoucherId};
use sqlx::{PgConnection, PgExecutor};

use super::LedgerError;

/// A sale as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SaleRow {
    pub(crate) id: VoucherId,
    pub(crate) shop_id: i64,
    pub(crate) title: String,
    pub(crate) sub_title: String,
    pub(crate) rules: String,
    pub(crate) pay_value: i64,
    pub(crate) actual_value: i64,
    /// Units published.
    pub(crate) published: i64,
    /// Units published, with later changes.
    pub(crate) initial: i64,
    /// Units without a live order.
    pub(crate) stock: i64,
    pub(crate) window: SaleWindow,
    pub(crate) control: Control,
    pub(crate) epoch: i64,
    pub(crate) version: i64,
    pub(crate) fence: i64,
}

impl SaleRow {
    /// What the ledger has and Redis has not is on its way: it becomes orders, or comes back. Of a row that is a second old
    /// it is true for a second longer.
    pub(crate) const fn all_held(&self, left: i64) -> bool {
        left <= 0 && self.stock > 0
    }
}

struct Raw {
    voucher_id: i64,
    shop_id: i64,
    title: String,
    sub_title: String,
    rules: String,
    pay_value: i32,
    actual_value: i32,
    initial: i32,
    changed: i32,
    stock: i32,
    begins_at: time::OffsetDateTime,
    ends_at: time::OffsetDateTime,
    state: String,
    epoch: i64,
    version: i64,
    fence: i64,
}

impl TryFrom<Raw> for SaleRow {
    type Error = LedgerError;

    fn try_from(raw: Raw) -> Result<Self, LedgerError> {
        Ok(Self {
            id: VoucherId::new(raw.voucher_id)?,
            shop_id: raw.shop_id,
            title: raw.title,
            sub_title: raw.sub_title,
            rules: raw.rules,
            pay_value: raw.pay_value.into(),
            actual_value: raw.actual_value.into(),
            published: raw.initial.into(),
            initial: i64::from(raw.initial) + i64::from(raw.changed),
            stock: raw.stock.into(),
            window: SaleWindow {
                begins_at: raw.begins_at.into(),
                ends_at: raw.ends_at.into(),
            },
            control: raw.state.parse()?,
            epoch: raw.epoch,
            version: raw.version,
            fence: raw.fence,
        })
    }
}

/// Writes a voucher and its sale.
pub(crate) async fn insert(
    db: &mut PgConnection,
    sale: &NewSale,
    shop_id: i64,
    control: Control,
) -> Result<VoucherId, LedgerError> {
    let id = sqlx::query_scalar!(
        "INSERT INTO voucher (shop_id, title, sub_title, rules, pay_value, actual_value)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
        shop_id,
        sale.title,
        sale.sub_title,
        sale.rules,
        sale.pay_value,
        sale.actual_value
    )
    .fetch_one(&mut *db)
    .await?;
    sqlx::query!(
        "INSERT INTO seckill_voucher (voucher_id, initial, stock, begins_at, ends_at, state)
         VALUES ($1, $2, $2, $3, $4, $5)",
        id,
        sale.stock,
        time::OffsetDateTime::from(sale.window.begins_at),
        time::OffsetDateTime::from(sale.window.ends_at),
        control.word()
    )
    .execute(db)
    .await?;
    Ok(VoucherId::new(id)?)
}

/// One sale.
pub(crate) async fn by_id(db: impl PgExecutor<'_>, id: VoucherId) -> Result<Option<SaleRow>, LedgerError> {
    let raw = sqlx::query_as!(
        Raw,
        r#"SELECT s.voucher_id, v.shop_id, v.title, v.sub_title, v.rules, v.pay_value, v.actual_value,
                s.initial, s.changed, s.stock, s.begins_at, s.ends_at, s.state, s.epoch, s.version, s.fence
         FROM seckill_voucher s JOIN voucher v ON v.id = s.voucher_id WHERE s.voucher_id = $1"#,
        id.get()
    )
    .fetch_optional(db)
    .await?;
    raw.map(SaleRow::try_from).transpose()
}

/// One sale, locked against other writers until the transaction ends.
pub(crate) async fn lock(db: impl PgExecutor<'_>, id: VoucherId) -> Result<Option<SaleRow>, LedgerError> {
    let raw = sqlx::query_as!(
        Raw,
        r#"SELECT s.voucher_id, v.shop_id, v.title, v.sub_title, v.rules, v.pay_value, v.actual_value,
                s.initial, s.changed, s.stock, s.begins_at, s.ends_at, s.state, s.epoch, s.version, s.fence
         FROM seckill_voucher s JOIN voucher v ON v.id = s.voucher_id
         WHERE s.voucher_id = $1 FOR NO KEY UPDATE OF s"#,
        id.get()
    )
    .fetch_optional(db)
    .await?;
    raw.map(SaleRow::try_from).transpose()
}

/// The newest `limit` drafts.
pub(crate) async fn drafts(db: impl PgExecutor<'_>, limit: i64) -> Result<Vec<SaleRow>, LedgerError> {
    let raw = sqlx::query_as!(
        Raw,
        r#"SELECT s.voucher_id, v.shop_id, v.title, v.sub_title, v.rules, v.pay_value, v.actual_value,
                s.initial, s.changed, s.stock, s.begins_at, s.ends_at, s.state, s.epoch, s.version, s.fence
         FROM seckill_voucher s JOIN voucher v ON v.id = s.voucher_id
         WHERE s.state = 'draft' ORDER BY s.voucher_id DESC LIMIT $1"#,
        limit
    )
    .fetch_all(db)
    .await?;
    raw.into_iter().map(SaleRow::try_from).collect()
}

/// Published sales that end after `after`, the newest `limit` of them.
pub(crate) async fn recent(
    db: impl PgExecutor<'_>,
    after: Timestamp,
    limit: i64,
) -> Result<Vec<SaleRow>, LedgerError> {
    let raw = sqlx::query_as!(
        Raw,
        r#"SELECT s.voucher_id, v.shop_id, v.title, v.sub_title, v.rules, v.pay_value, v.actual_value,
                s.initial, s.changed, s.stock, s.begins_at, s.ends_at, s.state, s.epoch, s.version, s.fence
         FROM seckill_voucher s JOIN voucher v ON v.id = s.voucher_id
         WHERE s.ends_at > $1 AND s.state <> 'draft' ORDER BY s.voucher_id DESC LIMIT $2"#,
        time::OffsetDateTime::from(after),
        limit
    )
    .fetch_all(db)
    .await?;
    raw.into_iter().map(SaleRow::try_from).collect()
}

/// The newest voucher's id; 0 when there is none.
pub(crate) async fn newest(db: impl PgExecutor<'_>) -> Result<i64, LedgerError> {
    Ok(
        sqlx::query_scalar!(r#"SELECT COALESCE(max(voucher_id), 0) AS "id!" FROM seckill_voucher"#)
            .fetch_one(db)
            .await?,
    )
}

/// Sets what operators did to a sale. `false`: it had ended already, nothing changed.
pub(crate) async fn steer(
    db: impl PgExecutor<'_>,
    id: VoucherId,
    control: Control,
) -> Result<bool, LedgerError> {
    let done = sqlx::query!(
        "UPDATE seckill_voucher SET state = $2, version = version + 1 WHERE voucher_id = $1 AND state <> 'ended'",
        id.get(),
        control.word()
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Raises the epoch above `newest`, which was shut, for the holder of the rebuild lock with this fencing number. `false`:
/// a later holder was here already, or the sale was rebuilt meanwhile; nothing changed.
pub(crate) async fn raise_epoch(
    db: impl PgExecutor<'_>,
    id: VoucherId,
    newest: i64,
    fence: i64,
) -> Result<bool, LedgerError> {
    let done = sqlx::query!(
        "UPDATE seckill_voucher SET epoch = GREATEST(epoch, $2) + 1, fence = $3
         WHERE voucher_id = $1 AND fence < $3 AND epoch <= $2",
        id.get(),
        newest,
        fence
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Raises the version, so that a writer that saw the old one gives up.
pub(crate) async fn raise_version(db: impl PgExecutor<'_>, id: VoucherId) -> Result<(), LedgerError> {
    sqlx::query!(
        "UPDATE seckill_voucher SET version = version + 1 WHERE voucher_id = $1",
        id.get()
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Changes what a sale says of itself and its window, if it is as the caller saw it. `false`: somebody changed it
/// meanwhile, or it has ended; nothing changed.
pub(crate) async fn edit(
    db: &mut PgConnection,
    seen: &SaleRow,
    edited: &EditedSale,
) -> Result<bool, LedgerError> {
    let done = sqlx::query!(
        "UPDATE seckill_voucher SET begins_at = $2, ends_at = $3, version = version + 1
         WHERE voucher_id = $1 AND version = $4 AND state <> 'ended'",
        seen.id.get(),
        time::OffsetDateTime::from(edited.window.begins_at),
        time::OffsetDateTime::from(edited.window.ends_at),
        seen.version
    )
    .execute(&mut *db)
    .await?;
    if done.rows_affected() != 1 {
        return Ok(false);
    }
    sqlx::query!(
        "UPDATE voucher SET title = $2, sub_title = $3, rules = $4, pay_value = $5, actual_value = $6 WHERE id = $1",
        seen.id.get(),
        edited.title,
        edited.sub_title,
        edited.rules,
        edited.pay_value,
        edited.actual_value
    )
    .execute(db)
    .await?;
    Ok(true)
}
