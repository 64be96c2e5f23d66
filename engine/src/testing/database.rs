//! A database for one test, in the PostgreSQL that `SECKILL_DATABASE_URL` names.

use std::str::FromStr;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgPool, postgres::PgConnectOptions};

/// A private database. Dropped by [`TestDatabase::drop_now`]; what a failed test leaves is swept with the store.
pub struct TestDatabase {
    admin: PgConnectOptions,
    name: String,
    pool: PgPool,
}

impl TestDatabase {
    /// Makes an empty database.
    pub async fn create() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "tests are told their store by the environment alone"
        )]
        let url = std::env::var("SECKILL_DATABASE_URL")
            .expect("SECKILL_DATABASE_URL: run the tests by `make test`");
        let admin = PgConnectOptions::from_str(&url).expect("a database address");
        let name = format!("test_{:016x}", getrandom::u64().expect("randomness"));
        let mut con = admin.connect().await.expect("PostgreSQL is up");
        sqlx::query(AssertSqlSafe(format!("CREATE DATABASE {name}")))
            .execute(&mut con)
            .await
            .expect("a database");
        let pool = PgPool::connect_lazy_with(admin.clone().database(&name));
        con.close().await.expect("the connection closes");
        Self { admin, name, pool }
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.admin.clone().database(&self.name).to_url_lossy().to_string()
    }

    /// A pool for looking behind the curtain.
    pub const fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// One number from one query.
    pub async fn number(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql)
            .fetch_one(&self.pool)
            .await
            .expect("one number")
    }

    /// Runs statements.
    pub async fn run(&self, sql: &'static str) {
        sqlx::raw_sql(sql)
            .execute(&self.pool)
            .await
            .expect("the statements run");
    }

    /// Drops the database, whoever is connected.
    pub async fn drop_now(&self) {
        self.pool.close().await;
        let mut con = self.admin.connect().await.expect("PostgreSQL is up");
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        sqlx::query(AssertSqlSafe(drop))
            .execute(&mut con)
            .await
            .expect("the database is dropped");
    }
}
