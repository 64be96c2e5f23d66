//! The page of one order.

use domain::{Order, OrderId, OrderState, Timestamp};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::{frame::Frame, missing};
use crate::{
    PageContext, context,
    document::Wake,
    format,
    islands::OrderSteps,
    model::{Moment, OrderProps},
};

/// `/orders/{id}`
#[component]
pub(crate) fn OrderPage() -> impl IntoView {
    let context = use_context::<PageContext>();
    let id = use_params_map().with_untracked(|params| params.get("id"));
    let id = id.and_then(|id| id.parse::<OrderId>().ok());
    Suspend::new(async move {
        let (Some(context), Some(id)) = (context, id) else {
            return missing::missing();
        };
        let Some(user) = context.user else {
            return missing::to_login(&format!("/orders/{id}"));
        };
        match context.engine.order(user, id).await {
            Ok(Some(order)) => page(order),
            Ok(None) => missing::no_order(),
            Err(error) => missing::broken(&error),
        }
    })
}

fn page(order: Order) -> AnyView {
    let lang = context::lang();
    let texts = lang.pages();
    let shown = OrderProps {
        order_id: order.order_id,
        state: order.state,
        reason: order.reason,
    };
    let title = order.title.unwrap_or_else(|| texts.unnamed.to_owned());
    let queued = order.state == OrderState::Queued;
    let changed = order.updated_at.map(moment);
    // Apart: in one piece its type is deeper than the compiler looks.
    let ordered = moment(order.ordered_at);
    let steps = view! { <OrderSteps order=shown ordered changed lang/> }.into_any();
    view! {
        <Frame title=texts.order.to_owned()>
            <p class="back"><a href="/orders">{texts.all_orders}</a></p>
            <div class="narrow">
                <h1>{title}</h1>
                <p class="facts">
                    {lang.shop().order} " " <code class="order-id">{order.order_id.to_string()}</code>
                </p>
                {steps}
                <p><a class="main" href=format!("/vouchers/{}", order.voucher_id)>{texts.to_voucher}</a></p>
                {queued.then(|| view! { <noscript><meta http-equiv="refresh" content="2"/></noscript> })}
            </div>
        </Frame>
        <Wake/>
    }
    .into_any()
}

fn moment(at: Timestamp) -> Moment {
    Moment {
        instant: at.to_string(),
        text: format::utc(at),
    }
}
