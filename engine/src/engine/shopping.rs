//! What shoppers do, and who they are.

use domain::{Account, GrabOutcome, Order, OrderId, Phone, Timestamp, UserId, Voucher, VoucherId};

use super::Engine;
use crate::{CodeSent, EngineError, LogInError, Session, SessionToken, events::Live};

impl Engine {
    /// Makes a one-time code for a phone.
    pub async fn send_code(&self, phone: &Phone) -> Result<CodeSent, EngineError> {
        if let Some(wait) = self.inner.limits.code(phone).await {
            return Ok(CodeSent::Wait(wait));
        }
        self.inner.accounts.send_code(phone).await
    }

    /// Opens a session for whoever holds the phone's code.
    pub async fn log_in(&self, phone: &Phone, code: &str) -> Result<Session, LogInError> {
        if let Some(wait) = self.inner.limits.login(phone).await {
            return Err(EngineError::wait(wait).into());
        }
        self.inner.accounts.log_in(phone, code).await
    }

    /// Whose token this is.
    pub async fn session(&self, token: &str) -> Result<Option<UserId>, EngineError> {
        self.inner.accounts.session(token).await
    }

    /// Ends a session.
    pub async fn log_out(&self, token: &str) -> Result<(), EngineError> {
        self.inner.accounts.log_out(token).await
    }

    /// Ends all sessions of a user.
    pub async fn log_out_everywhere(&self, user: UserId) -> Result<(), EngineError> {
        self.inner.accounts.log_out_everywhere(user).await
    }

    /// An account.
    pub async fn account(&self, user: UserId) -> Result<Option<Account>, EngineError> {
        self.inner.accounts.account(user).await
    }

    /// Whether an account may steer sales.
    pub async fn is_admin(&self, user: UserId) -> Result<bool, EngineError> {
        self.inner.accounts.is_admin(user).await
    }

    /// Makes the phone's account an admin.
    pub async fn grant_admin(&self, phone: &Phone) -> Result<UserId, EngineError> {
        self.inner.accounts.grant_admin(phone).await
    }

    /// `n` load-test accounts, each with a fresh session. For demo mode alone.
    pub async fn mint_sessions(&self, n: u32) -> Result<Vec<(UserId, SessionToken)>, EngineError> {
        self.inner.accounts.mint(n).await
    }

    /// The recent vouchers, newest first.
    pub async fn vouchers(&self) -> Result<Vec<Voucher>, EngineError> {
        self.inner.sales.vouchers(&self.inner.catalogue.all()).await
    }

    /// The recent vouchers of a shop, newest first.
    pub async fn vouchers_of_shop(&self, shop_id: i64) -> Result<Vec<Voucher>, EngineError> {
        let mut rows = self.inner.catalogue.all();
        rows.retain(|row| row.shop_id == shop_id);
        self.inner.sales.vouchers(&rows).await
    }

    /// One voucher.
    pub async fn voucher(&self, id: VoucherId) -> Result<Option<Voucher>, EngineError> {
        match self.inner.catalogue.get(id).await? {
            Some(row) => Ok(self.inner.sales.vouchers(&[row]).await?.pop()),
            None => Ok(None),
        }
    }

    /// One attempt to get a unit.
    pub async fn grab(&self, user: UserId, voucher: VoucherId) -> Result<GrabOutcome, EngineError> {
        if let Some(wait) = self.inner.limits.grab(user).await {
            let retry_after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let outcome = GrabOutcome::RateLimited { retry_after_ms };
            self.inner.metrics.grab(&outcome);
            return Ok(outcome);
        }
        let outcome = self.inner.grabs.grab(user, voucher).await?;
        if let GrabOutcome::Queued { order_id } = outcome {
            // From click to row: the server puts the call's id on this line, the consumer has one with the order's.
            tracing::debug!(%voucher, order = %order_id, "queued");
        }
        Ok(outcome)
    }

    /// The user's order for a voucher.
    pub async fn order_for(&self, user: UserId, voucher: VoucherId) -> Result<Option<Order>, EngineError> {
        self.inner.orders.for_voucher(user, voucher).await
    }

    /// The user's orders, newest first.
    pub async fn orders(&self, user: UserId) -> Result<Vec<Order>, EngineError> {
        self.inner.orders.all(user).await
    }

    /// One order, if it is the user's.
    pub async fn order(&self, user: UserId, id: OrderId) -> Result<Option<Order>, EngineError> {
        self.inner.orders.by_id(user, id).await
    }

    /// Listens. Read the state after this call, then what it tells: nothing falls between.
    pub fn listen(&self, user: Option<UserId>) -> Live {
        Live {
            board: self.inner.board.subscribe(),
            orders: user.map(|user| self.inner.hub.subscribe(user)),
        }
    }

    /// The process's clock, for pages. Sales are judged by Redis' own.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }
}
