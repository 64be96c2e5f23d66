//! A shopper's own orders.

use domain::{Order, OrderState};
use leptos::prelude::*;

use super::{frame::Frame, missing, voucher::time};
use crate::{PageContext, context, document::Wake, islands::OrderStatus, model::OrderProps, texts::Lang};

/// `/orders`
#[component]
pub(crate) fn Orders() -> impl IntoView {
    let context = use_context::<PageContext>();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        let Some(user) = context.user else {
            return missing::to_login("/orders");
        };
        let orders = match context.engine.orders(user).await {
            Ok(orders) => orders,
            Err(error) => return missing::broken(&error),
        };
        let operator = context.engine.is_admin(user).await.unwrap_or(false);
        page(orders, operator)
    })
}

fn page(orders: Vec<Order>, operator: bool) -> AnyView {
    let lang = context::lang();
    let texts = lang.pages();
    let empty = orders.is_empty();
    let queued = orders.iter().any(|order| order.state == OrderState::Queued);
    let rows: Vec<_> = orders.into_iter().map(|order| row(order, lang)).collect();
    view! {
        <Frame title=texts.orders.to_owned() operator>
            <h1>{texts.orders}</h1>
            {empty.then(|| view! {
                <p class="empty">{texts.no_orders} " " <a href="/">{texts.all_sales}</a></p>
            })}
            <ul class="orders">{rows}</ul>
            {queued.then(|| view! { <noscript><meta http-equiv="refresh" content="2"/></noscript> })}
        </Frame>
        {(!empty).then(|| view! { <Wake/> })}
    }
    .into_any()
}

fn row(order: Order, lang: Lang) -> impl IntoView {
    let texts = lang.pages();
    let shown = OrderProps {
        order_id: order.order_id,
        state: order.state,
        reason: order.reason,
    };
    let title = order.title.unwrap_or_else(|| texts.unnamed.to_owned());
    view! {
        <li class="order">
            <h2><a href=format!("/vouchers/{}", order.voucher_id)>{title}</a></h2>
            <p class="facts">
                {lang.shop().order} " "
                <a href=format!("/orders/{}", order.order_id)>
                    <code class="order-id">{order.order_id.to_string()}</code>
                </a>
                " · " {texts.ordered} " " {time(order.ordered_at)}
            </p>
            <OrderStatus order=shown lang/>
        </li>
    }
}
