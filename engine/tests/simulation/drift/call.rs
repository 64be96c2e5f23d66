//! A call to Redis, made up at random, and what the model says to it.

use domain::Control;
use fastrand::Rng;

use crate::model::{
    Mutation, Order, User,
    redis::{Copy, Open, Redis, Reply, Sale, Step},
};

/// The moment at which the model judges: all windows are far from it, and from the real clock.
const NOW: i64 = 1_800_000_000_000;
/// Windows that are open, not open yet, and over, for a long time each.
const WINDOWS: [(i64, i64); 3] = [
    (1, 4_000_000_000_000),
    (3_900_000_000_000, 4_000_000_000_000),
    (1, 2),
];
const STATES: [Control; 3] = [Control::Running, Control::Paused, Control::Ended];

/// A call with its arguments.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Grab {
        epoch: i64,
        attempts: Vec<(User, Order)>,
    },
    Load(Copy),
    Close(i64),
    GiveBack {
        user: User,
        order: Order,
        instead: Option<Order>,
    },
    Steer {
        epoch: i64,
        to: Open,
    },
    Restock {
        step: Step,
        epoch: i64,
        change: i64,
        delta: i64,
    },
    Requeue {
        epoch: i64,
        user: User,
        order: Order,
    },
    /// The consumer's: reads fresh entries, its own pending ones, takes over what anybody has, finishes the oldest.
    Group,
    Fresh(u8, usize),
    Own(u8, usize),
    Claim(u8),
    Finish(usize),
    /// A key is lost: stock, claims, sale or stream.
    Lose(usize),
}

impl Call {
    /// Most calls fit what is there; some don't.
    pub(super) fn random(rng: &mut Rng, redis: &Redis) -> Self {
        let fits = rng.u8(..6) > 0;
        let epoch = redis.sale.epoch.filter(|_| fits).unwrap_or_else(|| rng.i64(1..9));
        let user = rng.i64(1..6);
        let order = redis
            .holders()
            .find(|claim| claim.0 == user && fits)
            .map_or_else(|| rng.i64(1..1000), |claim| claim.1);
        let (consumer, count) = (rng.u8(..2), rng.usize(1..4));
        match rng.u8(..44) {
            0..=13 => {
                let attempts = (0..count).map(|_| (rng.i64(1..6), rng.i64(1..1000)));
                let attempts = attempts.collect();
                Self::Grab { epoch, attempts }
            }
            14..=17 => Self::Load(Copy {
                epoch: epoch + rng.i64(0..2),
                open: open(rng),
                initial: rng.i64(1..9),
                stock: rng.i64(0..5),
                claims: (1..6)
                    .filter(|_| rng.u8(..5) == 0)
                    .map(|user| (user, 1000 + user))
                    .collect(),
            }),
            18 => Self::Close(epoch),
            19..=22 => Self::GiveBack {
                user,
                order,
                instead: rng.bool().then_some(2000),
            },
            23..=25 => Self::Steer { epoch, to: open(rng) },
            26..=31 => Self::Restock {
                step: [Step::Begin, Step::Commit, Step::Abort][rng.usize(..3)],
                epoch,
                change: rng.i64(1..4),
                delta: [-2, -1, 1, 2][rng.usize(..4)],
            },
            32..=33 => Self::Requeue { epoch, user, order },
            34..=35 => Self::Group,
            36..=37 => Self::Fresh(consumer, count),
            38 => Self::Own(consumer, count),
            39 => Self::Claim(consumer),
            40..=42 => Self::Finish(count),
            _ => Self::Lose(rng.usize(..4)),
        }
    }

    /// What the model says, and does.
    pub(super) fn on_model(&self, redis: &mut Redis) -> String {
        let sound = Mutation::None;
        let orders = |read: Result<Vec<crate::model::stream::Entry>, _>| {
            read.map_or_else(
                |_: crate::model::stream::NoGroup| "NOGROUP".to_owned(),
                |entries| {
                    let orders: Vec<Order> = entries.iter().map(|entry| entry.order).collect();
                    format!("{orders:?}")
                },
            )
        };
        match self {
            Self::Grab { epoch, attempts } => {
                let replies = redis.grab(*epoch, attempts, NOW, sound);
                let codes: Vec<String> = replies.iter().map(code).collect();
                format!("grab {}", codes.join(", grab "))
            }
            Self::Load(copy) => format!("load {}", i64::from(redis.load(copy))),
            Self::Close(epoch) => match redis.close(*epoch) {
                None => "close 0".to_owned(),
                Some(last) => {
                    let last = redis.stream.entries.iter().find(|entry| entry.seq == last);
                    format!("close 1 {:?}", last.map(|entry| entry.order))
                }
            },
            Self::GiveBack { user, order, instead } => {
                let given = redis.give_back(*user, *order, *instead, sound);
                format!("give back {}", i64::from(given))
            }
            Self::Steer { epoch, to } => format!("steer {}", redis.steer(*epoch, *to, sound)),
            Self::Restock {
                step,
                epoch,
                change,
                delta,
            } => format!("restock {}", redis.restock(*step, *epoch, *change, *delta)),
            Self::Requeue { epoch, user, order } => {
                format!("requeue {}", i64::from(redis.requeue(*epoch, *user, *order)))
            }
            Self::Group => {
                redis.stream.ensure_group();
                "group".to_owned()
            }
            Self::Fresh(consumer, count) => orders(redis.stream.fresh(*consumer, *count)),
            Self::Own(consumer, count) => orders(redis.stream.own_pending(*consumer, *count)),
            Self::Claim(consumer) => orders(redis.stream.claim(*consumer, || true)),
            Self::Finish(count) => {
                let oldest: Vec<_> = redis.stream.entries.iter().take(*count).copied().collect();
                redis.stream.finish(&oldest);
                "finish".to_owned()
            }
            Self::Lose(key) => {
                match key {
                    0 => redis.stock = None,
                    1 => redis.claims.0.clear(),
                    2 => redis.sale = Sale::default(),
                    _ => redis.stream.delete(),
                }
                "lose".to_owned()
            }
        }
    }
}

fn open(rng: &mut Rng) -> Open {
    // Most sales sell.
    let at = |rng: &mut Rng| rng.usize(..9).saturating_sub(6);
    let (begin, end) = WINDOWS[at(rng)];
    Open {
        begin,
        end,
        state: STATES[at(rng)],
        version: rng.i64(0..4),
        run: rng.u32(..3),
    }
}

fn code(reply: &Reply) -> String {
    match reply {
        Reply::Queued => "0".to_owned(),
        Reply::OutOfStock => "1".to_owned(),
        Reply::Already(order) => format!("[2 {order}]"),
        Reply::NotStarted => "3".to_owned(),
        Reply::Ended => "4".to_owned(),
        Reply::NotLoaded => "5".to_owned(),
        Reply::Paused => "6".to_owned(),
    }
}
