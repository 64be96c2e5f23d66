//! Operators who change a sale while the processes that do it die (K50 and beyond).

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Scenario,
    parts::{SOON, sold, staffed},
};
use crate::{
    check::{Expect, Verdict, judge},
    http::Call,
    load::Load,
    shop::{Setup, Shop},
    stage::Stage,
    wait,
};

/// The scenarios of this file.
pub(super) const ALL: &[Scenario] = &[Scenario::new(
    "K50-kill",
    "stock and state are changed by a server that is killed in the middle, twenty-four times",
    |stage| Box::pin(changes_cut_short(stage)),
)];

/// Changes that are cut short.
const CHANGES: u32 = 24;

async fn changes_cut_short(stage: &Stage) -> anyhow::Result<Verdict> {
    let mut random = fastrand::Rng::with_seed(stage.seed_for(50));
    let setup = Setup {
        stock: 300,
        people: 700,
        ..Setup::default()
    };
    let mut shop = staffed(stage, setup).await?;
    let load = shop.load(Load::mixed(100_000, 40));
    let mut answered = 0;
    for n in 0..CHANGES {
        let (what, body) = change(n, &mut random);
        let path = format!("/api/v1/admin/vouchers/{}/{what}", shop.sale.id);
        let operator = shop.operator().to_owned();
        let mut client = crate::http::Client::new(shop.servers[0].port());
        let call = Call {
            body,
            ..Call::post(&path).by(&operator)
        };
        // Most are killed before they are through, some after.
        let patience = Duration::from_millis(random.u64(1..25));
        answered += u32::from(client.call(&call, patience).await.is_ok());
        shop.servers[0].kill();
        shop.again(0).await?;
    }
    shop.did(format!(
        "{CHANGES} changes, {answered} of them answered before the kill"
    ));
    shop.sale.units = units(&shop).await?;
    wait::until("the sale is resumed", SOON, async || {
        Ok(shop.steer("resume", None).await?.status.is_success())
    })
    .await?;
    let history = shop.crowd.history.clone();
    let since = history.now();
    shop.restock(50).await?;
    let sells = wait::until("units are sold", SOON, async || {
        Ok(history.first_since(since, sold).is_some())
    });
    let sells = sells.await.is_ok();
    shop.also("the sale sells again", sells);
    load.stop().await;
    // A change that was written to the ledger alone is brought to Redis by the guardian.
    let told = wait::until("no change is open", SOON, async || {
        Ok(open_changes(&shop).await? == 0)
    })
    .await;
    shop.also("no change is left open in Redis", told.is_ok());
    judge(shop, Expect::default()).await
}

fn change(n: u32, random: &mut fastrand::Rng) -> (&'static str, Option<Value>) {
    match n % 4 {
        0 => (
            "stock",
            Some(json!({"delta": random.i64(1..20), "reason": "more"})),
        ),
        1 => ("pause", None),
        2 => ("resume", None),
        _ => (
            "stock",
            Some(json!({"delta": -random.i64(1..10), "reason": "fewer"})),
        ),
    }
}

/// What the ledger says was published in all: a change whose answer was lost is made or not, and only it knows.
async fn units(shop: &Shop) -> anyhow::Result<i64> {
    // A transaction of a killed server may end a moment later.
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE '%stock_change%'
                AND pid <> pg_backend_pid()";
    wait::until("no change is under way", SOON, async || {
        Ok(shop.database.number(open).await? == 0)
    })
    .await?;
    shop.database
        .number("SELECT (initial + changed)::bigint FROM seckill_voucher ORDER BY voucher_id DESC LIMIT 1")
        .await
}

async fn open_changes(shop: &Shop) -> anyhow::Result<usize> {
    let key = format!("seckill:sale:{}:{{p0}}", shop.sale.id);
    let fields: Vec<String> = shop.redis.run(&["HKEYS", &key]).await?;
    Ok(fields.iter().filter(|field| field.starts_with("change:")).count())
}
