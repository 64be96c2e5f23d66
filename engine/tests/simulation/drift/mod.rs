//! The model against the real scripts: random histories of calls are made to both, and every reply and all that is left
//! in the keys is compared, so that the model can't drift away from what it stands for.

mod call;
mod real;

use fastrand::Rng;

use crate::model::redis::Redis;
use call::Call;
use real::Real;

/// Histories, each on an empty Redis, and calls in each.
const HISTORIES: u64 = 60;
const CALLS: usize = 80;

#[tokio::test]
async fn the_model_and_the_scripts_say_and_leave_the_same() {
    let mut real = Real::start().await;
    for seed in 0..HISTORIES {
        let mut rng = Rng::with_seed(seed);
        let mut model = Redis::default();
        real.empty().await;
        let mut history = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let call = Call::random(&mut rng, &model);
            history.push(format!("{call:?}"));
            let told = call.on_model(&mut model);
            let heard = real.call(&call).await;
            assert_eq!(heard, told, "seed {seed}: the replies differ after {history:#?}");
            let left = real.left().await;
            assert_eq!(
                left,
                real::left_in(&model),
                "seed {seed}: the keys differ after {history:#?}"
            );
        }
    }
    let seen = real.codes();
    for code in [
        "grab 0",
        "grab 1",
        "grab [2",
        "grab 3",
        "grab 4",
        "grab 5",
        "grab 6",
        "load 0",
        "load 1",
        "close 0",
        "close 1",
        "give back 0",
        "give back 1",
        "steer 0",
        "steer 1",
        "steer 2",
        "restock 0",
        "restock 1",
        "restock 2",
        "restock 5",
        "requeue 0",
        "requeue 1",
    ] {
        assert!(seen.contains(code), "no history reached {code:?}: {seen:?}");
    }
}
