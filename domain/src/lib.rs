//! The shared vocabulary of the flash-sale system: ids, times, sales, outcomes, orders and the shapes that travel
//! between server and browser. No IO, no clock of its own; compiles to WASM.

mod account;
mod event;
mod grab;
mod ids;
mod order;
mod sale;
mod timestamp;
mod voucher;

pub use account::{Account, Phone, PhoneError, Role};
pub use event::{LiveEvent, OrderEvent, StockEvent};
pub use grab::GrabOutcome;
pub use ids::{IdError, OrderId, UserId, VoucherId};
pub use order::{FailReason, Order, OrderState, UnknownWord};
pub use sale::{Control, SaleState, SaleWindow};
pub use timestamp::{Timestamp, TimestampError};
pub use voucher::{
    EditedSale, FieldError, FieldErrors, MAX_STOCK, NewSale, SaleDraft, SaleEdit, StockDelta, Voucher,
};
