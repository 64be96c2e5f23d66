//! The schema goes up, down and up again, with rows in it, and holds what it promises.

use engine::testing::TestDatabase;
use sqlx::migrate::Migrator;

static MIGRATOR: Migrator = sqlx::migrate!("../migrations");

const ROWS: &str = "
    INSERT INTO account (phone) VALUES ('13800000001'), ('13800000002');
    INSERT INTO voucher (title, sub_title, rules, pay_value, actual_value) VALUES ('t', '', '', 1, 2);
    INSERT INTO seckill_voucher (voucher_id, initial, stock, begins_at, ends_at)
        VALUES (1, 10, 9, now(), now() + interval '1 hour');
    INSERT INTO voucher_order (id, user_id, voucher_id, state) VALUES (1, 1, 1, 'confirmed');
    INSERT INTO stock_change (id, voucher_id, delta, reason, actor) VALUES (1, 1, 5, 'more', 2);
    INSERT INTO audit_log (actor, action, voucher_id) VALUES (2, 'created', 1);";

#[tokio::test]
async fn every_step_goes_up_down_and_up_on_populated_data() {
    let database = TestDatabase::create().await;
    MIGRATOR.run(database.pool()).await.unwrap();
    database.run(ROWS).await;
    MIGRATOR.undo(database.pool(), 0).await.unwrap();
    let tables =
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_sqlx_migrations'";
    assert_eq!(database.number(tables).await, 0, "nothing is left behind");
    MIGRATOR.run(database.pool()).await.unwrap();
    database.run(ROWS).await;
    assert_eq!(database.number("SELECT count(*) FROM voucher_order").await, 1);
    database.drop_now().await;
}

#[tokio::test]
async fn i1_i2_the_constraints_refuse_what_must_never_be() {
    let database = TestDatabase::create().await;
    MIGRATOR.run(database.pool()).await.unwrap();
    database.run(ROWS).await;
    let refused = [
        (
            "order_one_live",
            "INSERT INTO voucher_order (id, user_id, voucher_id, state) VALUES (2, 1, 1, 'paid')",
        ),
        ("sale_stock", "UPDATE seckill_voucher SET stock = -1"),
        ("sale_stock", "UPDATE seckill_voucher SET stock = 11"),
        ("sale_window", "UPDATE seckill_voucher SET ends_at = begins_at"),
        ("order_reason", "UPDATE voucher_order SET state = 'failed'"),
        ("order_state", "UPDATE voucher_order SET state = 'queued'"),
        ("account_phone_shape", "INSERT INTO account (phone) VALUES ('1')"),
        (
            "account_phone_unique",
            "INSERT INTO account (phone) VALUES ('13800000001')",
        ),
        ("change_delta", "UPDATE stock_change SET delta = 0"),
        (
            "order_account",
            "INSERT INTO voucher_order (id, user_id, voucher_id, state) VALUES (3, 2, 1, 'paid'), (4, 9, 1, 'paid')",
        ),
        (
            "order_sale",
            "INSERT INTO voucher_order (id, user_id, voucher_id, state) VALUES (3, 2, 1, 'paid'), (4, 2, 9, 'paid')",
        ),
    ];
    for (constraint, statement) in refused {
        let error = sqlx::query(statement).execute(database.pool()).await.unwrap_err();
        let hit = error
            .as_database_error()
            .and_then(|error| error.constraint())
            .map(str::to_owned);
        assert_eq!(hit.as_deref(), Some(constraint), "{statement}");
    }
    let stays = [
        "DELETE FROM account",
        "TRUNCATE account CASCADE",
        "UPDATE account SET id = DEFAULT WHERE id = 1",
        "DELETE FROM seckill_voucher",
        "TRUNCATE seckill_voucher CASCADE",
        "UPDATE seckill_voucher SET voucher_id = 2",
        "UPDATE voucher_order SET user_id = 2",
        "UPDATE voucher_order SET voucher_id = 2",
    ];
    for statement in stays {
        let error = sqlx::query(statement).execute(database.pool()).await.unwrap_err();
        let code = error
            .as_database_error()
            .and_then(|error| error.code().map(std::borrow::Cow::into_owned));
        assert_eq!(code.as_deref(), Some("23001"), "{statement}: {error}");
    }
    database
        .run("INSERT INTO voucher_order (id, user_id, voucher_id, state) VALUES (2, 1, 1, 'cancelled')")
        .await;
    database.drop_now().await;
}
