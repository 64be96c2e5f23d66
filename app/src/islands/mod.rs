//! What wakes up in the browser. Their first view is exactly what the server rendered: it is made from their props
//! alone, and its structure depends on no clock; only texts and attributes change.

mod countdown;
#[expect(missing_docs, reason = "the macro's own struct of serialized props")]
pub mod grab_panel;
mod live_sale;
#[expect(missing_docs, reason = "the macro's own struct of serialized props")]
pub mod order_status;
#[expect(missing_docs, reason = "the macro's own struct of serialized props")]
pub mod order_steps;
#[expect(missing_docs, reason = "the macro's own struct of serialized props")]
pub mod sale_line;

pub use grab_panel::GrabPanel;
pub use order_status::OrderStatus;
pub use order_steps::OrderSteps;
pub use sale_line::SaleLine;
