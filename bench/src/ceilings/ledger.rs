//! A6: the ledger's batch alone, the same statements on one connection, with nothing to read and nobody to tell.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

/// Orders a second that one writer settles in batches of `batch`. The accounts have to be there; the sale is made here.
pub(crate) async fn a6_ledger(pool: &PgPool, users: &[i64], batch: usize, time: Duration) -> Result<f64> {
    let mut db = pool.acquire().await?;
    let (mut settled, mut spent) = (0_u64, Duration::ZERO);
    while spent < time {
        let sale = new_sale(&mut db, users.len()).await?;
        let began = Instant::now();
        for users in users.chunks(batch) {
            if spent + began.elapsed() >= time {
                break;
            }
            settle(&mut db, sale, users).await?;
            settled += users.len() as u64;
        }
        spent += began.elapsed();
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    Ok(settled as f64 / spent.as_secs_f64())
}

async fn settle(db: &mut PgConnection, sale: i64, users: &[i64]) -> Result<()> {
    let now = OffsetDateTime::UNIX_EPOCH;
    let ids: Vec<i64> = users.iter().map(|user| (sale << 40) | user).collect();
    let (sales, times) = (vec![sale; users.len()], vec![now; users.len()]);
    sqlx::query("BEGIN").execute(&mut *db).await?;
    sqlx::query(
        "SELECT voucher_id, stock FROM seckill_voucher WHERE voucher_id = ANY($1)
         ORDER BY voucher_id FOR NO KEY UPDATE",
    )
    .bind(vec![sale])
    .fetch_all(&mut *db)
    .await?;
    let rows = sqlx::query(
        "INSERT INTO voucher_order (id, user_id, voucher_id, state, created_at)
         SELECT e.id, e.user_id, e.voucher_id, 'confirmed', e.created_at
         FROM UNNEST($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) AS e (id, user_id, voucher_id, created_at)
         JOIN seckill_voucher s ON s.voucher_id = e.voucher_id
         ON CONFLICT DO NOTHING
         RETURNING id, user_id, voucher_id",
    )
    .bind(ids)
    .bind(users.to_vec())
    .bind(sales)
    .bind(times)
    .fetch_all(&mut *db)
    .await?;
    ensure!(
        rows.len() == users.len(),
        "{} rows of {}",
        rows.len(),
        users.len()
    );
    sqlx::query(
        "UPDATE seckill_voucher s SET stock = s.stock - e.units
         FROM UNNEST($1::bigint[], $2::integer[]) AS e (voucher_id, units)
         WHERE s.voucher_id = e.voucher_id AND s.stock >= e.units",
    )
    .bind(vec![sale])
    .bind(vec![i32::try_from(users.len())?])
    .execute(&mut *db)
    .await?;
    sqlx::query("COMMIT").execute(&mut *db).await?;
    Ok(())
}

async fn new_sale(db: &mut PgConnection, stock: usize) -> Result<i64> {
    let voucher: i64 = sqlx::query_scalar(
        "INSERT INTO voucher (title, sub_title, rules, pay_value, actual_value) VALUES ('A6', '', '', 1, 1) RETURNING id",
    )
    .fetch_one(&mut *db)
    .await?;
    sqlx::query(
        "INSERT INTO seckill_voucher (voucher_id, initial, stock, begins_at, ends_at, state)
         VALUES ($1, $2, $2, now(), now() + interval '1 second', 'ended')",
    )
    .bind(voucher)
    .bind(i32::try_from(stock)?)
    .execute(&mut *db)
    .await?;
    Ok(voucher)
}
