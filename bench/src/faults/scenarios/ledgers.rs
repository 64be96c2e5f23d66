//! PostgreSQL that dies, refuses, crawls and has no place left.

use std::time::Duration;

use super::{Scenario, parts::SOON};
use crate::{
    check::{Expect, Verdict, judge},
    http::{Call, Client},
    instance::Spec,
    load::Load,
    shop::{Setup, Shop},
    stage::Stage,
    wait,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[
    Scenario::new("K36", "PostgreSQL is stopped at once, then killed", |stage| {
        Box::pin(dies(stage))
    })
    .quick(),
    Scenario::new(
        "K37",
        "the consumers' connections are ended every 200 ms",
        |stage| Box::pin(disconnects(stage)),
    )
    .quick(),
    Scenario::new(
        "K38",
        "PostgreSQL takes no writes: no right to, then read-only",
        |stage| Box::pin(takes_no_writes(stage)),
    )
    .quick(),
    Scenario::new("K39", "every insert takes 400 ms", |stage| {
        Box::pin(crawls(stage))
    }),
    Scenario::new(
        "R22",
        "a settle takes longer than its time-out allows, again and again",
        |stage| Box::pin(times_out(stage)),
    ),
    Scenario::new("K41", "PostgreSQL gives no connection", |stage| {
        Box::pin(no_connection(stage))
    }),
];

async fn staffed(stage: &Stage, setup: Setup) -> anyhow::Result<Shop> {
    let mut shop = stage.open(setup).await?;
    for spec in [Spec::web(), Spec::worker(), Spec::worker()] {
        shop.add(spec).await?;
    }
    Ok(shop)
}

/// Ends every connection of the shop.
pub(super) const HANG_UP: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = 'shop' AND datname = current_database()";

async fn dies(stage: &mut Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    let load = shop.load(Load::mixed(500, 100));
    shop.accepted(30, SOON).await?;
    stage.cluster.stop_at_once().await?;
    let before = shop.crowd.history.accepted();
    let goes_on = shop.accepted(before + 30, SOON).await.is_ok();
    shop.also("grabs go on without the ledger", goes_on);
    stage.cluster.restart().await?;
    shop.accepted(before + 40, SOON).await?;
    stage.cluster.kill();
    stage.cluster.restart().await?;
    shop.did("immediate stop, 30 grabs, start; kill -9, start");
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn disconnects(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 300,
            people: 500,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(800, 100));
    let mut times = 0;
    while load.goes_on() {
        shop.database.run(HANG_UP).await?;
        times += 1;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    shop.did(format!("{times} times pg_terminate_backend on all of the shop"));
    let dead: i64 = shop.redis.run(&["XLEN", "stream.dead:{p0}"]).await?;
    shop.also("nothing went to the dead stream", dead == 0);
    judge(
        shop,
        Expect {
            max_deliveries: times + 5,
            ..Expect::default()
        },
    )
    .await
}

async fn takes_no_writes(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 300,
            people: 400,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(600, 80));
    shop.accepted(30, SOON).await?;
    shop.database
        .run("REVOKE INSERT ON voucher_order FROM shop")
        .await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    shop.database.run("GRANT INSERT ON voucher_order TO shop").await?;
    shop.accepted(100, SOON).await?;
    for value in ["on", "off"] {
        // By another database, which takes writes all the time.
        let name = &shop.database.name;
        let sql = format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
        stage.cluster.run(&sql).await?;
        shop.database.run(HANG_UP).await?;
        if value == "on" {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
    shop.did("REVOKE INSERT for 2 s; read-only for 2 s");
    load.done().await;
    let dead: i64 = shop.redis.run(&["XLEN", "stream.dead:{p0}"]).await?;
    shop.also("nothing went to the dead stream", dead == 0);
    judge(
        shop,
        Expect {
            max_deliveries: 6,
            ..Expect::default()
        },
    )
    .await
}

/// Every insert of orders sleeps so long.
fn slow_inserts(seconds: f64) -> String {
    format!(
        "CREATE OR REPLACE FUNCTION crawl() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$;
         CREATE OR REPLACE TRIGGER crawl AFTER INSERT ON voucher_order
             FOR EACH STATEMENT EXECUTE FUNCTION crawl()"
    )
}

async fn crawls(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(stage, Setup::default()).await?;
    shop.database.run(&slow_inserts(0.4)).await?;
    let load = shop.load(Load::mixed(500, 120));
    shop.did("a trigger that sleeps 400 ms");
    load.done().await;
    // Live work is not taken over: nothing is delivered twice.
    judge(
        shop,
        Expect {
            max_deliveries: 1,
            ..Expect::default()
        },
    )
    .await
}

async fn times_out(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 300,
            people: 500,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(800, 50));
    shop.accepted(20, SOON).await?;
    shop.database.run(&slow_inserts(3.0)).await?;
    tokio::time::sleep(Duration::from_secs(12)).await;
    shop.database.run("DROP TRIGGER crawl ON voucher_order").await?;
    shop.did("a trigger that sleeps 3 s, for 12 s; a settle may take 1 s");
    load.done().await;
    let dead: i64 = shop.redis.run(&["XLEN", "stream.dead:{p0}"]).await?;
    shop.also("nothing went to the dead stream", dead == 0);
    judge(shop, Expect::default()).await
}

async fn no_connection(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut shop = staffed(
        stage,
        Setup {
            stock: 400,
            people: 600,
            ..Setup::default()
        },
    )
    .await?;
    let load = shop.load(Load::mixed(1000, 50));
    shop.accepted(20, SOON).await?;
    shop.database.run("ALTER ROLE shop CONNECTION LIMIT 0").await?;
    shop.database.run(HANG_UP).await?;
    let before = shop.crowd.history.accepted();
    let goes_on = shop.accepted(before + 50, SOON).await.is_ok();
    shop.also("grabs go on without connections", goes_on);
    let red = wait::until("readiness turns red", SOON, async || Ok(!is_ready(&shop).await?)).await;
    shop.database.run("ALTER ROLE shop CONNECTION LIMIT -1").await?;
    shop.also("readiness turns red while nothing settles", red.is_ok());
    let green = wait::until("readiness turns green", SOON, async || is_ready(&shop).await).await;
    shop.also("and green again", green.is_ok());
    shop.did(format!(
        "CONNECTION LIMIT 0 until readiness was red, after {:.1?}",
        red.unwrap_or_default()
    ));
    load.done().await;
    judge(shop, Expect::default()).await
}

async fn is_ready(shop: &Shop) -> anyhow::Result<bool> {
    let answer = Client::new(shop.ports()[0])
        .call(&Call::get("/readyz"), Duration::from_secs(5))
        .await;
    let answer = answer.map_err(|why| anyhow::anyhow!("/readyz: {}", why.word()))?;
    Ok(answer.status.is_success())
}
