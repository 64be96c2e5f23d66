//! The world of one schedule: the stores, everybody who acts on them, and the scheduler that picks who goes next.

use domain::Control;
use fastrand::Rng;

use crate::{
    actors::{
        operators::{Restocker, Steerer},
        rebuild::Rebuilder,
        sweeper::Sweeper,
        web::{Call, Client, Web},
        worker::Worker,
    },
    model::{Mutation, Order, User, ledger::Ledger, redis::Redis},
};

/// Faulty steps of a schedule at most, before everybody is left to finish.
const STEPS: u32 = 60;
/// Picks in a row at which nobody could do anything: the schedule ends early.
const IDLE_PICKS: u32 = 12;

/// What Redis may lose in a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Nothing,
    /// A single key of the sale (K25, R…).
    Key,
    /// The stream with its group (K27).
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
    /// Times that something was lost which neither a missing key nor the epoch gives away.
    pub(crate) cuts: u32,
    /// The cut up to which the sale was rebuilt.
    pub(crate) mended: u32,
    pub(crate) users: User,
    pub(crate) clients: Vec<Client>,
    pub(crate) webs: Vec<Web>,
    /// Calls whose callers are gone or have given up; they may still reach Redis.
    pub(crate) late: Vec<Call>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) rebuilders: Vec<Rebuilder>,
    /// Somebody has seen that the sale is not loaded.
    pub(crate) rebuild_wanted: bool,
    pub(crate) restocker: Restocker,
    pub(crate) steerers: Vec<Steerer>,
    pub(crate) sweeper: Sweeper,
    /// An operator was told that the sale has ended.
    pub(crate) told_ended: bool,
    /// What the script gave, and what shoppers saw accepted.
    pub(crate) granted: Vec<(User, Order)>,
    pub(crate) accepted: Vec<(User, Order)>,
    next_id: i64,
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
        let refused = if rng.u8(0..4) == 0 { 1 } else { 0 };
        let ledger = Ledger::new(units, refused);
        let mut redis = Redis::default();
        redis.load(&ledger.copy());
        // The first shopper has two tabs open.
        let clients = (1..=users).chain([1]).map(Client::new).collect();
        let steerers = if mutation == Mutation::SteersOutOfOrder { 2 } else { 1 };
        let mut world = Self {
            rng,
            mutation,
            loss,
            redis,
            ledger,
            kept: None,
            cuts: 0,
            mended: 0,
            users,
            clients,
            webs: vec![Web::new(1), Web::new(1)],
            late: Vec::new(),
            workers: vec![Worker::new(0), Worker::new(1)],
            rebuilders: vec![Rebuilder::Idle, Rebuilder::Idle],
            rebuild_wanted: false,
            restocker: Restocker::Idle,
            steerers: vec![Steerer::Idle; steerers],
            sweeper: Sweeper::default(),
            told_ended: false,
            granted: Vec::new(),
            accepted: Vec::new(),
            next_id: 100,
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
        match self.rng.u8(..32) {
            0..=5 => self.step_client(),
            6..=13 => self.step_web(),
            14..=21 => {
                let at = self.rng.usize(..self.workers.len());
                self.step_worker(at)
            }
            22..=24 => {
                let at = self.rng.usize(..self.rebuilders.len());
                self.step_rebuilder(at)
            }
            25 | 26 => self.step_restocker(),
            27 => self.recover_changes(),
            28 => {
                let at = self.rng.usize(..self.steerers.len());
                self.step_steerer(at)
            }
            29 => self.step_late(),
            30 => self.step_sweeper(),
            _ => self.step_loss(),
        }
    }

    /// A fault, in so many of a hundred cases; never once all is calm.
    pub(crate) fn fault(&mut self, percent: u8) -> bool {
        !self.calm && self.rng.u8(..100) < percent
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
        self.redis.loaded() != Some(self.ledger.epoch) || self.cuts > self.mended
    }

    fn step_loss(&mut self) -> bool {
        match self.loss {
            Loss::Nothing => return false,
            Loss::Key => match self.rng.u8(..3) {
                0 => self.redis.stock = None,
                1 => self.redis.claims.0.clear(),
                _ => self.redis.sale = None,
            },
            Loss::Stream => self.redis.stream.delete(),
            Loss::Tail => {
                let Some(mut kept) = self.kept.take() else {
                    self.kept = Some(self.redis.clone());
                    return false;
                };
                kept.stream.last_seq = self.redis.stream.last_seq;
                self.redis = kept;
                self.cuts += 1;
            }
            Loss::All => {
                let mut empty = Redis::default();
                empty.stream.last_seq = self.redis.stream.last_seq;
                self.redis = empty;
            }
        }
        self.note(|world| format!("LOSS {:?}", world.loss));
        true
    }

    /// Whether the sale may sell, as far as operators have a say.
    pub(crate) fn ended(&self) -> bool {
        self.ledger.control == Control::Ended
    }
}
