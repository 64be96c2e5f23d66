//! The page of one voucher.

use domain::{OrderState, SaleState, Timestamp, VoucherId};
use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::{
    frame::Frame,
    missing,
    sales::{price, props},
};
use crate::{
    PageContext, context,
    document::Wake,
    format,
    islands::GrabPanel,
    model::{Note, OrderProps},
    texts::grouped,
};

/// Without scripts a page is loaded again at the opening, or after this time if that is later.
const LONGEST_RELOAD_SECONDS: i64 = 60;
/// Without scripts a queued order is looked at again after this time.
const QUEUED_RELOAD_SECONDS: i64 = 2;

/// `/vouchers/{id}`
#[component]
pub(crate) fn Voucher() -> impl IntoView {
    let context = use_context::<PageContext>();
    let id = use_params_map().with_untracked(|params| params.get("id"));
    let id = id.and_then(|id| id.parse::<VoucherId>().ok());
    Suspend::new(async move {
        let (Some(context), Some(id)) = (context, id) else {
            return missing::missing();
        };
        let voucher = match context.engine.voucher(id).await {
            Ok(Some(voucher)) => voucher,
            Ok(None) => return missing::missing(),
            Err(error) => return missing::broken(&error),
        };
        let order = match context.user {
            Some(user) => context.engine.order_for(user, id).await,
            None => Ok(None),
        };
        match order {
            Ok(order) => page(voucher, order.as_ref(), &context),
            Err(error) => missing::broken(&error),
        }
    })
}

fn page(voucher: domain::Voucher, order: Option<&domain::Order>, context: &PageContext) -> AnyView {
    let lang = context::lang();
    let texts = lang.pages();
    let now = context.engine.now();
    let sale = props(&voucher, now, lang);
    let order = order.map(|order| OrderProps {
        order_id: order.order_id,
        state: order.state,
        reason: order.reason,
    });
    // An order is the better news: what an earlier attempt came to is of no interest then.
    let note = Note::from_word(&context::query("told"), &context::query("wait"));
    let note = note.filter(|_| !order.is_some_and(OrderProps::holds));
    let reload = reload_after(&voucher, order, now);
    let signed_in = context.user.is_some();
    let rules = (!voucher.rules.is_empty()).then(|| {
        view! {
            <section>
                <h2>{texts.rules}</h2>
                <p class="rules">{voucher.rules.clone()}</p>
            </section>
        }
    });
    let calendar = (voucher.state == SaleState::Scheduled).then(|| {
        let file = format!("/vouchers/{}/calendar.ics", voucher.id);
        view! {
            <p class="calendar">
                <span>{texts.opens} " " {time(voucher.begins_at)}</span>
                <a href=file>{texts.calendar}</a>
            </p>
        }
    });
    view! {
        <Frame title=voucher.title.clone()>
            <p class="back"><a href="/">{texts.all_sales}</a></p>
            <div class="voucher">
                <div class="about">
                    <h1>{voucher.title}</h1>
                    <p class="lead">{voucher.sub_title}</p>
                    {price(voucher.pay_value, voucher.actual_value, texts)}
                    <p class="facts">{(texts.of_all)(grouped(voucher.initial_stock))} " · " {texts.one_each}</p>
                    <section>
                        <h2>{texts.times}</h2>
                        <dl class="times">
                            <dt>{texts.opens}</dt>
                            <dd>{time(voucher.begins_at)}</dd>
                            <dt>{texts.ends}</dt>
                            <dd>{time(voucher.ends_at)}</dd>
                        </dl>
                    </section>
                    {rules}
                </div>
                <div class="buy">
                    <GrabPanel sale order note signed_in/>
                    {calendar}
                    <noscript>
                        {reload.map(|seconds| view! {
                            <meta http-equiv="refresh" content=seconds.to_string()/>
                            <p class="hint">{texts.reloads}</p>
                        })}
                    </noscript>
                </div>
            </div>
        </Frame>
        <Wake/>
    }
    .into_any()
}

/// When a browser without scripts should look again.
fn reload_after(voucher: &domain::Voucher, order: Option<OrderProps>, now: Timestamp) -> Option<i64> {
    if let Some(order) = order {
        return (order.state == OrderState::Queued).then_some(QUEUED_RELOAD_SECONDS);
    }
    (voucher.state == SaleState::Scheduled).then(|| {
        let wait = (voucher.begins_at.millis() - now.millis() + 999) / 1000;
        wait.clamp(1, LONGEST_RELOAD_SECONDS)
    })
}

/// An instant, for people and for programs.
pub(super) fn time(at: Timestamp) -> impl IntoView {
    view! { <time datetime=at.to_string()>{format::utc(at)}</time> }
}
