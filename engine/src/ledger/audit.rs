//! Who did what, and when.

use domain::{Timestamp, UserId, VoucherId};
use serde::{Deserialize, Serialize};
use sqlx::PgExecutor;

use super::LedgerError;

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AuditLine {
    /// When.
    pub at: Timestamp,
    /// Who; absent for the system itself.
    pub actor: Option<UserId>,
    /// What, in one word.
    pub action: String,
    /// Before and after, in words.
    pub detail: String,
}

/// Writes a line, in the transaction of what it tells of.
pub(crate) async fn write(
    db: impl PgExecutor<'_>,
    actor: Option<UserId>,
    action: &str,
    voucher: Option<VoucherId>,
    detail: &str,
) -> Result<(), LedgerError> {
    sqlx::query!(
        "INSERT INTO audit_log (actor, action, voucher_id, detail) VALUES ($1, $2, $3, $4)",
        actor.map(UserId::get),
        action,
        voucher.map(VoucherId::get),
        detail
    )
    .execute(db)
    .await?;
    Ok(())
}

/// The newest lines of a voucher.
pub(crate) async fn of_voucher(
    db: impl PgExecutor<'_>,
    voucher: VoucherId,
    limit: i64,
) -> Result<Vec<AuditLine>, LedgerError> {
    let rows = sqlx::query!(
        "SELECT created_at, actor, action, detail FROM audit_log WHERE voucher_id = $1 ORDER BY id DESC LIMIT $2",
        voucher.get(),
        limit
    )
    .fetch_all(db)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(AuditLine {
                at: row.created_at.into(),
                actor: row.actor.map(UserId::new).transpose()?,
                action: row.action,
                detail: row.detail,
            })
        })
        .collect()
}
