//! What can go wrong with PostgreSQL, sorted by what to do about it.

/// A call to the ledger that failed. Unless a commit was under way, nothing was changed by it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    /// The database is away, going down, read-only, out of connections, or lost a race: the same call may work later.
    #[error("ledger: in trouble: {0}")]
    Trouble(#[source] sqlx::Error),
    /// The database refused these data, by a constraint or a type.
    #[error("ledger: refused: {0}")]
    Refused(#[source] sqlx::Error),
    /// A row that can't be read back, or a statement that did not do what it must.
    #[error("ledger: {0}")]
    Broken(String),
}

impl LedgerError {
    /// Whether fewer rows at once may work: a row was refused, or the statement ran out of its time (57014).
    pub(crate) fn is_for_halving(&self) -> bool {
        match self {
            Self::Refused(_) => true,
            Self::Trouble(error) => error
                .as_database_error()
                .and_then(sqlx::error::DatabaseError::code)
                .is_some_and(|code| code == "57014"),
            Self::Broken(_) => false,
        }
    }

    /// Whether the same call may work later.
    pub(crate) const fn is_trouble(&self) -> bool {
        matches!(self, Self::Trouble(_))
    }
}

impl From<sqlx::Error> for LedgerError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(database) => {
                // Classes 22 (data) and 23 (integrity) blame the row; all else blames the database or its set-up:
                // 08 connection, 25 read-only, 40 rollback, 42501 privilege, 53 resources, 55 state, 57 shutdown, 58 IO.
                let code = database.code().unwrap_or_default().into_owned();
                if code.starts_with("22") || code.starts_with("23") {
                    Self::Refused(error)
                } else {
                    Self::Trouble(error)
                }
            }
            sqlx::Error::RowNotFound
            | sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::TypeNotFound { .. } => Self::Broken(error.to_string()),
            _ => Self::Trouble(error),
        }
    }
}

impl From<domain::UnknownWord> for LedgerError {
    fn from(_: domain::UnknownWord) -> Self {
        Self::Broken("a row holds an unknown word".into())
    }
}

impl From<domain::IdError> for LedgerError {
    fn from(_: domain::IdError) -> Self {
        Self::Broken("a row holds an id that is none".into())
    }
}
