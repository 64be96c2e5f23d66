//! What a PostgreSQL tells of itself, for those who run it. The one place with unchecked queries: they name no table of
//! ours but the one that the migrations keep, which is not there before the first of them.

use domain::Timestamp;
use sqlx::PgPool;

use super::{LedgerError, store::MIGRATOR};

/// A PostgreSQL, as it is now.
#[derive(Debug, Clone)]
pub(crate) struct LedgerVitals {
    pub(crate) version: String,
    pub(crate) clock: Timestamp,
    /// Takes no writes: a standby, or set so.
    pub(crate) read_only: bool,
    /// Connections that it takes from people who are not superusers.
    pub(crate) max_connections: i64,
    /// Connections of others to this server now.
    pub(crate) others: i64,
    /// `on`, or a commit may be lost with the machine.
    pub(crate) synchronous_commit: String,
    /// Steps of the schema that are missing; below 0, that this program does not know.
    pub(crate) missing_steps: i64,
}

type Row = (String, f64, bool, i64, i64, String, bool);

/// Asks.
pub(crate) async fn vitals(pool: &PgPool) -> Result<LedgerVitals, LedgerError> {
    let (version, seconds, read_only, max_connections, others, synchronous_commit, migrated): Row =
        sqlx::query_as(
            "SELECT current_setting('server_version'), extract(epoch FROM clock_timestamp())::float8,
                current_setting('transaction_read_only') = 'on',
                current_setting('max_connections')::bigint
                    - current_setting('superuser_reserved_connections')::bigint,
                (SELECT count(*) FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND application_name NOT LIKE 'seckill-%'),
                current_setting('synchronous_commit'),
                to_regclass('_sqlx_migrations') IS NOT NULL",
        )
        .fetch_one(pool)
        .await?;
    let applied: i64 = if migrated {
        sqlx::query_scalar("SELECT count(*) FROM _sqlx_migrations WHERE success")
            .fetch_one(pool)
            .await?
    } else {
        0
    };
    let known = MIGRATOR
        .iter()
        .filter(|step| step.migration_type.is_up_migration())
        .count();
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds of our time fit")]
    let clock = Timestamp::from_millis((seconds * 1000.0) as i64);
    Ok(LedgerVitals {
        version,
        clock,
        read_only,
        max_connections,
        others,
        synchronous_commit,
        missing_steps: i64::try_from(known).unwrap_or(0) - applied,
    })
}
