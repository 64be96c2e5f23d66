//! The people: minted accounts who attempt, ask again, and look at their orders as a real client does.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::json;

use crate::{
    history::{Attempt, History, Outcome, Sighting},
    http::{Call, Client, NoReply, Reply},
};

/// How long a client waits for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// A shopper.
#[derive(Debug)]
pub(crate) struct Person {
    /// The account's id.
    pub(crate) id: i64,
    phone: String,
    token: Mutex<String>,
}

impl Person {
    /// The session's secret.
    pub(crate) fn token(&self) -> String {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// All shoppers of a scenario and what they do to one sale.
#[derive(Debug)]
pub(crate) struct Crowd {
    people: Vec<Person>,
    voucher: i64,
    /// What they saw.
    pub(crate) history: Arc<History>,
}

impl Crowd {
    /// Reads the lines `user_id token` of `server mint-sessions`.
    pub(crate) fn minted(lines: &str, voucher: i64) -> anyhow::Result<Self> {
        let mut people = Vec::new();
        for (n, line) in lines.lines().enumerate() {
            let (id, token) = line
                .split_once(' ')
                .ok_or_else(|| anyhow::anyhow!("not a minted session: {line:?}"))?;
            people.push(Person {
                id: id.parse()?,
                // The phones that mint-sessions uses, in its order.
                phone: format!("199{n:08}"),
                token: Mutex::new(token.to_owned()),
            });
        }
        Ok(Self {
            people,
            voucher,
            history: Arc::new(History::new()),
        })
    }

    /// What they all want.
    pub(crate) const fn voucher(&self) -> i64 {
        self.voucher
    }

    /// Everybody.
    pub(crate) fn people(&self) -> &[Person] {
        &self.people
    }

    /// One attempt of a person, logged.
    pub(crate) async fn grab(&self, client: &mut Client, server: u16, person: usize) -> Outcome {
        self.grab_within(client, server, person, PATIENCE).await
    }

    /// One attempt of a person who hangs up after so long.
    pub(crate) async fn grab_within(
        &self,
        client: &mut Client,
        server: u16,
        person: usize,
        patience: Duration,
    ) -> Outcome {
        let sent = self.history.now();
        let path = format!("/api/v1/vouchers/{}/grab", self.voucher);
        let outcome = match self.as_person(client, person, &path, true, patience).await {
            Ok(reply) => outcome(&reply),
            Err(NoReply::Unreachable) => Outcome::NotYet(NoReply::Unreachable.word().to_owned()),
            Err(why) => Outcome::Unknown(why.word().to_owned()),
        };
        self.history.tried(Attempt {
            person,
            server,
            sent,
            ended: self.history.now(),
            outcome: outcome.clone(),
        });
        outcome
    }

    /// Reads one order of a person: its state, `None` for 404. Logged if there is a state.
    pub(crate) async fn look(
        &self,
        client: &mut Client,
        person: usize,
        order: i64,
    ) -> anyhow::Result<Option<String>> {
        let sent = self.history.now();
        let reply = self
            .as_person(
                client,
                person,
                &format!("/api/v1/orders/{order}"),
                false,
                PATIENCE,
            )
            .await
            .map_err(|why| anyhow::anyhow!("no order page: {}", why.word()))?;
        match (reply.status.as_u16(), reply.text("state")) {
            (200, Some(state)) => {
                self.history.saw(Sighting {
                    person,
                    order,
                    state: state.to_owned(),
                    sent,
                    told: self.history.now(),
                });
                Ok(Some(state.to_owned()))
            }
            (404, _) => Ok(None),
            (status, _) => anyhow::bail!("an order's page answers {status}"),
        }
    }

    /// Makes a call; one whose session is gone logs in again first.
    async fn as_person(
        &self,
        client: &mut Client,
        person: usize,
        path: &str,
        is_post: bool,
        patience: Duration,
    ) -> Result<Reply, NoReply> {
        let call = |token| {
            if is_post {
                Call::post(path).by(token)
            } else {
                Call::get(path).by(token)
            }
        };
        let token = self.people[person].token();
        let reply = client.call(&call(&token), patience).await?;
        if reply.status.as_u16() != 401 || !self.log_in(client, person).await? {
            return Ok(reply);
        }
        let token = self.people[person].token();
        client.call(&call(&token), patience).await
    }

    async fn log_in(&self, client: &mut Client, person: usize) -> Result<bool, NoReply> {
        let phone = &self.people[person].phone;
        match log_in(client, phone).await? {
            Some(token) => {
                *self.people[person]
                    .token
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner) = token;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Opens a session in a demo shop.
pub(crate) async fn log_in(client: &mut Client, phone: &str) -> Result<Option<String>, NoReply> {
    let ask = Call::post("/api/v1/session/code").with(json!({"phone": phone}));
    let sent = client.call(&ask, PATIENCE).await?;
    let Some(code) = sent.text("code") else {
        return Ok(None);
    };
    let open = Call::post("/api/v1/session").with(json!({"phone": phone, "code": code}));
    Ok(client.call(&open, PATIENCE).await?.session)
}

fn outcome(reply: &Reply) -> Outcome {
    let order = || reply.text("order_id").and_then(|id| id.parse().ok());
    let code = reply.text("code").unwrap_or_default();
    match (reply.status.as_u16(), code) {
        (202, _) => order().map_or_else(|| Outcome::Unknown("202 without an id".into()), Outcome::Queued),
        (409, "already_ordered") => {
            order().map_or_else(|| Outcome::Unknown("409 without an id".into()), Outcome::Already)
        }
        (503, "not_ready") | (429 | 401, _) => Outcome::NotYet(format!("{} {code}", reply.status.as_u16())),
        (400..500, _) => Outcome::Refused(code.to_owned()),
        (status, _) => Outcome::Unknown(format!("{status} {code}")),
    }
}
