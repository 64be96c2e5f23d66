//! The ceilings A0 to A2 as running processes.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Result, ensure};

use crate::{
    ceilings::Ceiling,
    load::{Amount, Person, Plan, Target, run},
    stand::{Served, Stand, free_address, our_target},
};

/// Shoppers that come again and again.
const FEW: usize = 10_000;

/// Starts all three; idle ones cost nothing.
pub(super) async fn start(stand: &Stand) -> Result<Vec<(Ceiling, Served)>> {
    let mut started = Vec::new();
    let program = std::env::current_exe()?;
    let (redis, database) = (stand.redis.url(), stand.database.url());
    let env = [
        ("SECKILL_REDIS_URL", redis.as_str()),
        ("SECKILL_DATABASE_URL", database.as_str()),
    ];
    for ceiling in [Ceiling::Canned, Ceiling::Empty, Ceiling::Session] {
        let address = free_address()?;
        let args = ["ceiling", ceiling.word(), "--listen", &address.to_string()];
        let log = stand.path(&format!("ceiling-{}.log", ceiling.word()));
        let served = Served::start(&program, &args, &env, address, "/healthz", &log).await?;
        started.push((ceiling, served));
    }
    Ok(started)
}

/// Answers a second in a closed loop.
pub(super) async fn rate(
    ceiling: Ceiling,
    served: &Served,
    people: &Arc<[Person]>,
    time: Duration,
) -> Result<f64> {
    let target = if ceiling == Ceiling::Empty {
        let text = format!(
            "url = 'http://{}/empty'\n{}",
            served.address,
            include_str!("../../targets/ours.rules.toml")
        );
        Arc::new(Target::parse(&text, &BTreeMap::new())?)
    } else {
        our_target(served.address, domain::VoucherId::new(10)?)?
    };
    let few: Arc<[Person]> = people[..people.len().min(FEW)].into();
    if ceiling == Ceiling::Session {
        let all_once = Amount::Attempts(few.len() as u64);
        run(Plan::closed(target.clone(), few.clone(), all_once)).await?;
    }
    let outcome = run(Plan::closed(target, few, Amount::For(time))).await?;
    ensure!(
        outcome.troubles().is_empty(),
        "{}: {}",
        ceiling.name(),
        outcome.troubles()
    );
    Ok(outcome.rate())
}
