//! `stock > 0` in the update: the stock is right; one person's two clicks at once both find no order, and both buy.

use anyhow::Result;
use futures_util::future::BoxFuture;

use super::{Said, Strategy, Venue, row};

pub(super) struct ByStock(Venue);

impl ByStock {
    pub(super) fn new(venue: &Venue) -> Self {
        Self(venue.clone())
    }
}

impl Strategy for ByStock {
    fn grab(&self, user: i64) -> BoxFuture<'_, Result<Said>> {
        Box::pin(row::check_then_take(&self.0, user))
    }
}
