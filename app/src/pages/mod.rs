//! The pages. Rendered on the server; what moves on them is an island.

mod admin_board;
mod admin_dead;
mod admin_form;
mod admin_frame;
mod admin_history;
mod admin_new;
mod admin_orders;
mod admin_report;
mod admin_sale;
mod admin_sales;
mod field;
mod frame;
mod login;
mod missing;
mod order;
mod orders;
mod sales;
mod voucher;

pub(crate) use admin_dead::AdminDead;
pub(crate) use admin_new::AdminNew;
pub(crate) use admin_orders::AdminOrders;
pub(crate) use admin_report::AdminReport;
pub(crate) use admin_sale::AdminSale;
pub(crate) use admin_sales::AdminSales;
pub(crate) use login::LogIn;
pub(crate) use missing::Missing;
pub(crate) use order::OrderPage;
pub(crate) use orders::Orders;
pub(crate) use sales::Sales;
pub(crate) use voucher::Voucher;
