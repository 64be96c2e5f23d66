//! Accounts.

use domain::{Account, Phone, Role, UserId};
use sqlx::PgExecutor;

use super::LedgerError;

pub(super) fn masked(phone: &str) -> String {
    match (phone.get(..3), phone.get(7..)) {
        (Some(head), Some(tail)) => format!("{head}****{tail}"),
        _ => "****".to_owned(),
    }
}

/// The account of a phone, made where there is none.
pub(crate) async fn by_phone(db: impl PgExecutor<'_>, phone: &Phone) -> Result<Account, LedgerError> {
    // The update is a no-op that makes RETURNING give the row in both cases.
    let row = sqlx::query!(
        "INSERT INTO account (phone) VALUES ($1)
         ON CONFLICT ON CONSTRAINT account_phone_unique DO UPDATE SET phone = EXCLUDED.phone
         RETURNING id, role",
        phone.as_str()
    )
    .fetch_one(db)
    .await?;
    Ok(Account {
        id: UserId::new(row.id)?,
        phone: masked(phone.as_str()),
        role: row.role.parse()?,
    })
}

/// The account with this id.
pub(crate) async fn by_id(db: impl PgExecutor<'_>, id: UserId) -> Result<Option<Account>, LedgerError> {
    let row = sqlx::query!("SELECT id, phone, role FROM account WHERE id = $1", id.get())
        .fetch_optional(db)
        .await?;
    row.map(|row| {
        Ok(Account {
            id,
            phone: masked(&row.phone),
            role: row.role.parse()?,
        })
    })
    .transpose()
}

/// The account's role; `None` for an unknown account.
pub(crate) async fn role(db: impl PgExecutor<'_>, id: UserId) -> Result<Option<Role>, LedgerError> {
    let word = sqlx::query_scalar!("SELECT role FROM account WHERE id = $1", id.get())
        .fetch_optional(db)
        .await?;
    word.map(|word| Ok(word.parse()?)).transpose()
}

/// Gives an account a role. `false` for an unknown account.
pub(crate) async fn grant(db: impl PgExecutor<'_>, id: UserId, role: Role) -> Result<bool, LedgerError> {
    let done = sqlx::query!(
        "UPDATE account SET role = $2 WHERE id = $1",
        id.get(),
        role.word()
    )
    .execute(db)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// The accounts of these phones in their order, made where there are none.
pub(crate) async fn by_phones(
    db: impl PgExecutor<'_>,
    phones: &[String],
) -> Result<Vec<UserId>, LedgerError> {
    let ids = sqlx::query_scalar!(
        r#"WITH made AS (
               INSERT INTO account (phone) SELECT * FROM UNNEST($1::text[])
               ON CONFLICT ON CONSTRAINT account_phone_unique DO NOTHING
               RETURNING id, phone)
           SELECT COALESCE(made.id, old.id) AS "id!"
           FROM UNNEST($1::text[]) WITH ORDINALITY AS wanted (phone, place)
           LEFT JOIN made USING (phone)
           LEFT JOIN account old USING (phone)
           ORDER BY wanted.place"#,
        phones
    )
    .fetch_all(db)
    .await?;
    ids.into_iter().map(|id| Ok(UserId::new(id)?)).collect()
}
