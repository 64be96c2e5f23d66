//! The world of one schedule: the stores, everybody who acts on them, and the scheduler that picks who goes next.

use domain::Control;
use fastrand::Rng;

use crate::{
    actors::{
        operators::{Restocker, Steerer},
        rebuild::{Lock, Rebuilder},
        sweeper::Sweeper,
        web::{Call, Client, Web},
        worker::Worker,
    },
    model::{
        Mutation, Order, User,
        ledger::Ledger,
        redis::{Open, Redis, Sale, Step},
    },
};

/// Faulty steps of a schedule at most, before everybody is left to finish.
const STEPS: u32 = 60;
/// Picks in a row at which nobody could do anything: the schedule ends early.
const IDLE_PICKS: u32 = 12;

/// How often clients, webs, workers, rebuilders, the operators of stock and of state, small repairs, the sweeper and losses
/// may go on: one of three in each schedule.
const WEIGHTS: [[u8; 3]; 9] = [
    [2, 6, 10],
    [3, 8, 16],
    [2, 8, 16],
    [2, 6, 16],
    [0, 2, 6],
    [0, 1, 4],
    [1, 3, 6],
    [1, 1, 3],
    [0, 1, 4],
];

/// What Redis may lose in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Nothing,
    /// A single key of the sale.
    Key,
    /// The group, or the stream with it (K27).
    Stream,
    /// The newest writes (K24, K34).
    Tail,
    /// Everything (K26).
    All,
}

/// All state of one schedule. The same seed gives the same schedule.
pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) mutation: Mutation,
    pub(crate) loss: Loss,
    pub(crate) redis: Redis,
    pub(crate) ledger: Ledger,
    /// What Redis comes back with when its tail is cut.
    kept: Option<Redis>,
    /// Counts starts of Redis.
    pub(crate) run: u32,
    pub(crate) users: User,
    pub(crate) clients: Vec<Client>,
    pub(crate) webs: Vec<Web>,
    /// Calls whose callers are gone or have given up; they may still reach Redis.
    pub(crate) late: Vec<Call>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) rebuilders: Vec<Rebuilder>,
    pub(crate) lock: Lock,
    pub(crate) restocker: Restocker,
    /// A change that the guardian is about to finish: epoch, number, delta, step.
    pub(crate) recovery: Option<(i64, i64, i64, Step)>,
    pub(crate) steerers: Vec<Steerer>,
    /// What the guardian is about to tell Redis again.
    pub(crate) resteer: Option<(i64, Open)>,
    pub(crate) sweeper: Sweeper,
    /// An operator was told that the sale has ended.
    pub(crate) told_ended: bool,
    /// What the script gave, and what shoppers saw accepted.
    pub(crate) granted: Vec<(User, Order)>,
    pub(crate) accepted: Vec<(User, Order)>,
    next_id: i64,
    /// How often each kind of actor goes on, and how often faults come: schedules differ in character.
    weights: [u8; 9],
    faults: u8,
    /// How often in sixteen times the second of two processes goes on.
    skew: u8,
    /// No faults any more: everybody finishes.
    pub(crate) calm: bool,
    /// The first rule that was found broken.
    pub(crate) broken: Option<String>,
    trace: Option<Vec<String>>,
}

impl World {
    pub(crate) fn new(seed: u64, mutation: Mutation, traced: bool) -> Self {
        let mut rng = Rng::with_seed(seed);
        let users = rng.i64(2..=4);
        let units = rng.i64(1..=3);
        let loss = match rng.u8(0..10) {
            0 => Loss::Key,
            1 => Loss::Stream,
            2 => Loss::Tail,
            3 => Loss::All,
            _ => Loss::Nothing,
        };
        let refused = i64::from(rng.u8(0..4) == 0);
        // Two processes may go by one name (K19).
        let names = u8::from(rng.u8(0..4) > 0);
        let skew = [1, 5, 8][rng.usize(..3)];
        let weights = WEIGHTS.map(|choices| choices[rng.usize(..3)]);
        let faults = [1, 2, 4][rng.usize(..3)];
        let ledger = Ledger::new(units, refused);
        let mut redis = Redis::default();
        redis.load(&ledger.copy());
        // The first shopper has two tabs open.
        let clients = (1..=users).chain([1]).map(Client::new).collect();
        let mut world = Self {
            rng,
            mutation,
            loss,
            redis,
            ledger,
            kept: None,
            run: 0,
            users,
            clients,
            webs: vec![Web::new(1), Web::new(1)],
            late: Vec::new(),
            workers: vec![Worker::new(0), Worker::new(names)],
            rebuilders: vec![Rebuilder::default(); 2],
            lock: Lock::default(),
            restocker: Restocker::Idle,
            recovery: None,
            steerers: vec![Steerer::Idle; 2],
            resteer: None,
            sweeper: Sweeper::default(),
            told_ended: false,
            granted: Vec::new(),
            accepted: Vec::new(),
            next_id: 100,
            weights,
            faults,
            skew,
            calm: false,
            broken: None,
            trace: traced.then(Vec::new),
        };
        world.note(|_| format!("{users} users, {units} units, may lose {loss:?}, refuses user {refused}"));
        world
    }

    /// Runs the schedule to its end; what was broken, if anything.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        let (mut steps, mut idle) = (0, 0);
        while steps < STEPS && idle < IDLE_PICKS && self.broken.is_none() {
            if self.step() {
                (steps, idle) = (steps + 1, 0);
                self.check_always();
            } else {
                idle += 1;
            }
        }
        self.calm_down();
        self.broken.take().map_or(Ok(()), Err)
    }

    /// Lets one actor make its next step. `false`: it had none to make.
    fn step(&mut self) -> bool {
        let total: u8 = self.weights.iter().sum();
        let mut pick = self.rng.u8(..total);
        let actor = self.weights.iter().position(|weight| {
            let here = pick < *weight;
            pick = pick.saturating_sub(*weight);
            here
        });
        match actor {
            Some(0) => self.step_client(),
            Some(1) => self.step_web(),
            Some(2) => {
                let at = self.one_of_two();
                self.step_worker(at)
            }
            Some(3) => {
                let at = self.one_of_two();
                self.step_rebuilder(at)
            }
            Some(4) => self.step_restocker(),
            Some(5) => {
                let at = self.one_of_two();
                self.step_steerer(at)
            }
            Some(6) => match self.rng.u8(..3) {
                0 => self.recover_changes(),
                1 => self.steer_again(),
                _ => self.step_late(),
            },
            Some(7) => self.step_sweeper(),
            _ => self.step_loss(),
        }
    }

    /// Of each pair of processes one may be much slower than the other.
    pub(crate) fn one_of_two(&mut self) -> usize {
        usize::from(self.rng.u8(..16) < self.skew)
    }

    /// A fault, in so many of a hundred cases; never once all is calm.
    pub(crate) fn fault(&mut self, percent: u8) -> bool {
        !self.calm && self.rng.u8(..100) < percent * self.faults / 2
    }

    /// A fresh number, for orders and changes.
    pub(crate) const fn mint(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id
    }

    /// Writes a line into the trace, if there is one.
    pub(crate) fn note(&mut self, line: impl FnOnce(&Self) -> String) {
        if self.trace.is_some() {
            let line = line(self);
            self.trace.get_or_insert_default().push(line);
        }
    }

    /// The first broken rule is kept.
    pub(crate) fn breaks(&mut self, rule: impl FnOnce(&Self) -> String) {
        if self.broken.is_none() {
            self.broken = Some(rule(self));
        }
    }

    pub(crate) fn take_trace(&mut self) -> Vec<String> {
        self.trace.take().unwrap_or_default()
    }

    /// Whether Redis lacks what the ledger says it should hold.
    pub(crate) fn needs_rebuild(&self) -> bool {
        self.redis.loaded() != Some((self.ledger.epoch, self.run))
    }

    /// Redis is restarted, or loses something.
    fn step_loss(&mut self) -> bool {
        if self.rng.bool() {
            self.run += 1;
            self.note(|_| "Redis restarts".to_owned());
            return true;
        }
        match self.loss {
            Loss::Nothing => return false,
            Loss::Key => match self.rng.u8(..3) {
                0 => self.redis.stock = None,
                1 => self.redis.claims.0.clear(),
                _ => self.redis.sale = Sale::default(),
            },
            Loss::Stream if self.rng.bool() => self.redis.stream.destroy_group(),
            Loss::Stream => self.redis.stream.delete(),
            Loss::Tail => {
                let Some(kept) = self.kept.take() else {
                    self.kept = Some(self.redis.clone());
                    return false;
                };
                self.come_back_with(kept);
            }
            Loss::All => self.come_back_with(Redis::default()),
        }
        self.note(|world| format!("LOSS {:?}", world.loss));
        true
    }

    fn come_back_with(&mut self, mut redis: Redis) {
        redis.stream.last_seq = self.redis.stream.last_seq;
        self.redis = redis;
        self.lock = Lock::default();
        if self.loss == Loss::Tail {
            self.run += 1;
        }
    }

    /// Whether the sale may sell, as far as operators have a say.
    pub(crate) fn ended(&self) -> bool {
        self.ledger.control == Control::Ended
    }
}
