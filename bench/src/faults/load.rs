//! The load: people who come at a steady rate, ask again when they don't know, and look at their orders.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{sync::watch, task::JoinHandle};

use crate::{crowd::Crowd, history::Outcome, http::Client};

/// Clients at work at once.
const CLIENTS: usize = 12;
/// How often a client asks again before it leaves that for later.
const AGAIN: u32 = 4;
/// A pause before it does, and up to as much again.
const PAUSE: Duration = Duration::from_millis(150);

/// Who does what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mix {
    /// M: most come for the first time, some come back, some look at their order.
    Mixed,
    /// D: everybody presses the button five times at once.
    Duplicates,
    /// As M, but clients hang up within milliseconds.
    Impatient,
}

/// A load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Who does what.
    pub(crate) mix: Mix,
    /// Turns in all; a turn of mix D is five attempts.
    pub(crate) turns: usize,
    /// Turns a second.
    pub(crate) rate: u32,
}

impl Load {
    /// Mix M.
    pub(crate) const fn mixed(turns: usize, rate: u32) -> Self {
        Self {
            mix: Mix::Mixed,
            turns,
            rate,
        }
    }

    /// Mix D.
    pub(crate) const fn duplicates(turns: usize, rate: u32) -> Self {
        Self {
            mix: Mix::Duplicates,
            turns,
            rate,
        }
    }
}

/// A load at work.
pub(crate) struct Running {
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

struct Dealer {
    random: fastrand::Rng,
    left: usize,
    fresh: usize,
    people: usize,
}

impl Dealer {
    /// Who is next, whether to look only; `None`: nobody is left.
    fn deal(&mut self, mix: Mix) -> Option<(usize, bool)> {
        self.left = self.left.checked_sub(1)?;
        let known = self.fresh.min(self.people);
        let turn = self.random.u32(..10);
        if mix != Mix::Duplicates && known > 0 && turn < 3 {
            return Some((self.random.usize(..known), turn == 0));
        }
        self.fresh += 1;
        Some(((self.fresh - 1) % self.people, false))
    }
}

impl Load {
    /// Begins. `ports`: the web servers, one of which is picked anew for each attempt.
    pub(crate) fn start(self, crowd: &Arc<Crowd>, ports: &[u16], seed: u64) -> Running {
        let (stop, stopped) = watch::channel(false);
        let mut random = fastrand::Rng::with_seed(seed);
        let dealer = Arc::new(Mutex::new(Dealer {
            random: random.fork(),
            left: self.turns,
            fresh: 0,
            people: crowd.people().len(),
        }));
        let tasks = (0..CLIENTS)
            .map(|_| {
                let (crowd, dealer, mut stopped) = (crowd.clone(), dealer.clone(), stopped.clone());
                let mut random = random.fork();
                let ports = ports.to_vec();
                tokio::spawn(async move {
                    let mut clients = Clients::new(&ports);
                    let rhythm = Duration::from_secs(CLIENTS as u64) / self.rate.max(1);
                    let mut ticks = tokio::time::interval(rhythm);
                    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                    loop {
                        tokio::select! {
                            _ = ticks.tick() => {}
                            _ = stopped.wait_for(|stop| *stop) => return,
                        }
                        let turn = dealer
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .deal(self.mix);
                        match turn {
                            Some((person, true)) => look(&crowd, &mut clients, &mut random, person).await,
                            Some((person, false)) if self.mix == Mix::Impatient => {
                                let (port, client) = clients.any(&mut random);
                                let patience = Duration::from_micros(random.u64(200..20_000));
                                crowd.grab_within(client, port, person, patience).await;
                            }
                            Some((person, false)) if self.mix == Mix::Mixed => {
                                insist(&crowd, &mut clients, &mut random, person, &stopped).await;
                            }
                            Some((person, false)) => press(&crowd, &ports, &mut random, person, 5).await,
                            None => return,
                        }
                    }
                })
            })
            .collect();
        Running { stop, tasks }
    }
}

impl Running {
    /// Whether somebody is still at work.
    pub(crate) fn goes_on(&self) -> bool {
        self.tasks.iter().any(|task| !task.is_finished())
    }

    /// Waits until all turns are done.
    pub(crate) async fn done(self) {
        for task in join_all(self.tasks).await {
            let _ = task;
        }
    }

    /// Ends it after the attempts that are under way.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        self.done().await;
    }
}

/// A kept connection to each server.
pub(crate) struct Clients {
    clients: Vec<(u16, Client)>,
}

impl Clients {
    /// Of the servers on these ports.
    pub(crate) fn new(ports: &[u16]) -> Self {
        Self {
            clients: ports.iter().map(|port| (*port, Client::new(*port))).collect(),
        }
    }

    /// One of them.
    pub(crate) fn any(&mut self, random: &mut fastrand::Rng) -> (u16, &mut Client) {
        let n = random.usize(..self.clients.len());
        let (port, client) = &mut self.clients[n];
        (*port, client)
    }
}

/// Asks, and asks again a few times while the answer leaves it open.
async fn insist(
    crowd: &Crowd,
    clients: &mut Clients,
    random: &mut fastrand::Rng,
    person: usize,
    stopped: &watch::Receiver<bool>,
) {
    for _ in 0..AGAIN {
        let (port, client) = clients.any(random);
        if crowd.grab(client, port, person).await.is_final() || *stopped.borrow() {
            return;
        }
        tokio::time::sleep(PAUSE.mul_f64(1.0 + random.f64())).await;
    }
}

/// A person presses so many times at once, on any of the servers.
pub(crate) async fn press(
    crowd: &Crowd,
    ports: &[u16],
    random: &mut fastrand::Rng,
    person: usize,
    times: usize,
) {
    let presses = (0..times).map(|_| {
        let port = ports[random.usize(..ports.len())];
        async move { crowd.grab(&mut Client::new(port), port, person).await }
    });
    join_all(presses).await;
}

async fn look(crowd: &Crowd, clients: &mut Clients, random: &mut fastrand::Rng, person: usize) {
    let attempts = crowd.history.attempts();
    let order = attempts
        .iter()
        .rev()
        .find(|a| a.person == person && a.outcome.order().is_some());
    if let Some(order) = order.and_then(|attempt| attempt.outcome.order()) {
        // A page that does not load shows nothing wrong.
        let _ = crowd.look(clients.any(random).1, person, order).await;
    }
}

/// Everybody of `people` asks until the answer is final or time is up. Returns who still does not know.
pub(crate) async fn resolve(crowd: &Crowd, ports: &[u16], people: &[usize], within: Duration) -> Vec<usize> {
    let queue = Mutex::new(people.to_vec());
    let open = Mutex::new(Vec::new());
    let deadline = tokio::time::Instant::now() + within;
    let workers = (0..CLIENTS).map(|n| {
        let (queue, open) = (&queue, &open);
        async move {
            let mut clients = Clients::new(ports);
            let mut random = fastrand::Rng::with_seed(n as u64);
            loop {
                let Some(person) = queue.lock().unwrap_or_else(PoisonError::into_inner).pop() else {
                    return;
                };
                loop {
                    let (port, client) = clients.any(&mut random);
                    let outcome: Outcome = crowd.grab(client, port, person).await;
                    if outcome.is_final() {
                        break;
                    }
                    if tokio::time::Instant::now() >= deadline {
                        open.lock().unwrap_or_else(PoisonError::into_inner).push(person);
                        break;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    });
    join_all(workers).await;
    open.into_inner().unwrap_or_else(PoisonError::into_inner)
}
