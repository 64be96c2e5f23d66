//! Logging in by phone and one-time code; sessions.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Account, Phone, Role, UserId};
use moka::future::Cache;
use sha2::{Digest, Sha256};

use crate::{
    Clock, EngineError, EngineSettings,
    kv::{CodeIssue, Kv, News, TokenHash},
    ledger::{Ledger, accounts},
};

/// Sessions that a process remembers at once.
const MEMORY: u64 = 200_000;

/// A session's secret, as the cookie carries it. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(String);

impl SessionToken {
    fn mint() -> Result<Self, EngineError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The secret itself: for a cookie, never for a log.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionToken(…)")
    }
}

/// What became of a request for a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSent {
    /// Sent; the code is for whoever delivers it, and is shown in demo mode only.
    Sent {
        /// Six digits.
        code: String,
    },
    /// One was sent moments ago and not used.
    Wait(Duration),
}

/// A fresh session.
#[derive(Debug, Clone)]
pub struct Session {
    /// Whose it is.
    pub account: Account,
    /// Its secret.
    pub token: SessionToken,
}

/// Why a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LogInError {
    /// Wrong, used up, too old, or never sent: which of them is not told.
    #[error("wrong code")]
    WrongCode,
    /// A store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The use cases of accounts.
pub(crate) struct Accounts {
    kv: Kv,
    ledger: Ledger,
    clock: Arc<dyn Clock>,
    seen: Cache<TokenHash, UserId>,
    session_life: Duration,
    code_life: Duration,
    code_pause: Duration,
    code_tries: u32,
}

impl Accounts {
    pub(crate) fn new(kv: Kv, ledger: Ledger, clock: Arc<dyn Clock>, settings: &EngineSettings) -> Self {
        let seen = Cache::builder()
            .max_capacity(MEMORY)
            .time_to_live(settings.session_memory);
        Self {
            kv,
            ledger,
            clock,
            seen: seen.build(),
            session_life: settings.session_life,
            code_life: settings.code_life,
            code_pause: settings.code_pause,
            code_tries: settings.code_tries,
        }
    }

    /// Makes a code and keeps its hash.
    pub(crate) async fn send_code(&self, phone: &Phone) -> Result<CodeSent, EngineError> {
        // Of 2^32 numbers, a million codes: none is likelier than another by more than one in four thousand.
        let code = format!("{:06}", getrandom::u32()? % 1_000_000);
        match self
            .kv
            .issue_code(phone, &code_hash(phone, &code), self.code_life, self.code_pause)
            .await?
        {
            CodeIssue::Kept => Ok(CodeSent::Sent { code }),
            CodeIssue::Wait(wait) => Ok(CodeSent::Wait(wait)),
        }
    }

    /// Opens a session for whoever holds the phone's code; the account is made at the first login.
    pub(crate) async fn log_in(&self, phone: &Phone, code: &str) -> Result<Session, LogInError> {
        let right = self
            .kv
            .check_code(phone, &code_hash(phone, code), self.code_tries)
            .await;
        if !right.map_err(EngineError::from)? {
            return Err(LogInError::WrongCode);
        }
        let account = accounts::by_phone(&self.ledger.pages, phone)
            .await
            .map_err(EngineError::from)?;
        let token = self
            .open_sessions(&[account.id])
            .await?
            .pop()
            .ok_or(EngineError::unready("no session"))?;
        Ok(Session { account, token })
    }

    /// Opens a session for each of these users.
    pub(crate) async fn open_sessions(&self, users: &[UserId]) -> Result<Vec<SessionToken>, EngineError> {
        let tokens = users
            .iter()
            .map(|_| SessionToken::mint())
            .collect::<Result<Vec<_>, _>>()?;
        let hashed: Vec<_> = tokens
            .iter()
            .zip(users)
            .map(|(token, user)| (TokenHash::of(&token.0), *user))
            .collect();
        self.kv
            .open_sessions(&hashed, self.session_life, self.seconds())
            .await?;
        Ok(tokens)
    }

    /// Whose token this is. In the usual case no trip to Redis: the process remembers it for a few seconds.
    pub(crate) async fn session(&self, token: &str) -> Result<Option<UserId>, EngineError> {
        let hash = TokenHash::of(token);
        if let Some(user) = self.seen.get(&hash).await {
            return Ok(Some(user));
        }
        let user = self.kv.session(&hash, self.session_life, self.seconds()).await?;
        if let Some(user) = user {
            self.seen.insert(hash, user).await;
        }
        Ok(user)
    }

    /// Ends a session everywhere.
    pub(crate) async fn log_out(&self, token: &str) -> Result<(), EngineError> {
        let hash = TokenHash::of(token);
        self.kv.close_session(&hash).await?;
        self.forget(&hash).await;
        // Others forget it within the memory's time even if this does not reach them.
        self.kv.publish(&News::Logout(hash.to_string())).await?;
        Ok(())
    }

    /// Ends all sessions of a user, everywhere.
    pub(crate) async fn log_out_everywhere(&self, user: UserId) -> Result<(), EngineError> {
        let tokens = self.kv.sessions_of(user).await?;
        self.kv.close_sessions(user, &tokens).await?;
        for hash in tokens {
            self.forget(&hash).await;
            self.kv.publish(&News::Logout(hash.to_string())).await?;
        }
        Ok(())
    }

    fn seconds(&self) -> i64 {
        self.clock.now().millis() / 1000
    }

    /// Drops what this process remembers of a session.
    pub(crate) async fn forget(&self, hash: &TokenHash) {
        self.seen.invalidate(hash).await;
    }

    /// The account with this id.
    pub(crate) async fn account(&self, user: UserId) -> Result<Option<Account>, EngineError> {
        Ok(accounts::by_id(&self.ledger.pages, user).await?)
    }

    /// Whether the account may steer sales: asked of the ledger each time, so that a revoked role ends at once.
    pub(crate) async fn is_admin(&self, user: UserId) -> Result<bool, EngineError> {
        Ok(accounts::role(&self.ledger.pages, user).await? == Some(Role::Admin))
    }

    /// Makes the phone's account an admin.
    pub(crate) async fn grant_admin(&self, phone: &Phone) -> Result<UserId, EngineError> {
        let account = accounts::by_phone(&self.ledger.pages, phone).await?;
        accounts::grant(&self.ledger.pages, account.id, Role::Admin).await?;
        Ok(account.id)
    }

    /// `n` load-test accounts with a session each. The same accounts every time.
    pub(crate) async fn mint(&self, n: u32) -> Result<Vec<(UserId, SessionToken)>, EngineError> {
        const CHUNK: usize = 5000;
        let phones: Vec<String> = (0..n).map(|i| format!("199{i:08}")).collect();
        let mut minted = Vec::with_capacity(phones.len());
        for chunk in phones.chunks(CHUNK) {
            let users = accounts::by_phones(&self.ledger.pages, chunk).await?;
            let tokens = self.open_sessions(&users).await?;
            minted.extend(users.into_iter().zip(tokens));
        }
        Ok(minted)
    }
}

/// Keyed by the phone, so that equal codes of two phones have different hashes.
fn code_hash(phone: &Phone, code: &str) -> String {
    let digest = Sha256::digest(format!("{}:{code}", phone.as_str()));
    URL_SAFE_NO_PAD.encode(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_show_in_debug() {
        let token = SessionToken::mint().unwrap();
        assert_eq!(token.secret().len(), 43);
        assert!(!format!("{token:?}").contains(token.secret()));
    }
}
