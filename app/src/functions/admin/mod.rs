//! What operators' forms call. The role is checked first, each time.

pub mod create;
pub mod edit;
pub mod form;
pub mod letters;
#[cfg(feature = "ssr")]
mod reading;
pub mod steer;
pub mod stock;

pub use create::{CreateSale, Created};
pub use edit::{EditSale, Edited};
pub use form::DraftForm;
pub use letters::{Dealt, ReleaseLetter, ReplayLetter};
#[cfg(feature = "ssr")]
pub(crate) use reading::utc;
pub use steer::{Steer, Steered};
pub use stock::{Restock, Restocked};

/// A sale's page, or the list where the id is none.
#[cfg(feature = "ssr")]
fn page_of(voucher_id: &str) -> String {
    voucher_id
        .parse::<domain::VoucherId>()
        .map_or_else(|_| "/admin".to_owned(), |id| format!("/admin/vouchers/{id}"))
}
