//! One sale, for operators: where its units are, what can be done, and what was done.

use domain::{SaleState, Voucher, VoucherId};
use engine::{AuditLine, EngineError, SaleSum};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_params_map;

use super::{admin_new::wrong, admin_sales::operator, field::Field, frame::Frame, missing, voucher::time};
use crate::{
    PageContext, context,
    functions::{Restock, Steer},
    texts::{Admin, grouped},
};

/// `/admin/vouchers/{id}`
#[component]
pub(crate) fn AdminSale() -> impl IntoView {
    let context = use_context::<PageContext>();
    let id = use_params_map().with_untracked(|params| params.get("id"));
    let id = id.and_then(|id| id.parse::<VoucherId>().ok());
    Suspend::new(async move {
        let (Some(context), Some(id)) = (context, id) else {
            return missing::missing();
        };
        if let Err(page) = operator(&context, &format!("/admin/vouchers/{id}")).await {
            return page;
        }
        match load(&context, id).await {
            Ok(Some((voucher, sum, audit))) => page(voucher, sum, audit),
            Ok(None) => missing::missing(),
            Err(error) => missing::broken(&error),
        }
    })
}

type Loaded = (Voucher, SaleSum, Vec<AuditLine>);

async fn load(context: &PageContext, id: VoucherId) -> Result<Option<Loaded>, EngineError> {
    let engine = &context.engine;
    let (Some(voucher), Some(sum)) = (engine.voucher(id).await?, engine.sum(id).await?) else {
        return Ok(None);
    };
    Ok(Some((voucher, sum, engine.audit(id).await?)))
}

fn page(voucher: Voucher, sum: SaleSum, audit: Vec<AuditLine>) -> AnyView {
    let texts = context::lang().admin();
    let told = context::query("told");
    let bad = !matches!(told.as_str(), "published" | "done");
    let numbers = [
        (texts.units, sum.units),
        (texts.sold, sum.live_orders),
        (texts.left, sum.redis_stock.unwrap_or(sum.ledger_stock)),
        (texts.in_flight, sum.in_flight),
        (texts.failed, sum.failed_orders),
        (texts.drift, sum.drift),
    ];
    let numbers: Vec<_> = numbers
        .into_iter()
        .map(|(label, number)| view! { <div><dt>{label}</dt><dd>{grouped(number)}</dd></div> })
        .collect();
    view! {
        <Frame title=voucher.title.clone() operator=true>
            <p class="back"><a href="/admin">{texts.sales}</a></p>
            <div class="bar">
                <h1>{voucher.title.clone()}</h1>
                <span class="badge" data-state=voucher.state.word()>{texts.state_of(voucher.state)}</span>
            </div>
            {texts.told(&told).map(|news| view! {
                <p class=if bad { "news bad" } else { "news" } role="status">{news}</p>
            })}
            {(!sum.loaded && voucher.state != SaleState::Ended).then(|| view! { <p class="news bad">{texts.not_loaded}</p> })}
            <p class="facts">
                {time(voucher.begins_at)} " – " {time(voucher.ends_at)} " · "
                <a href=format!("/vouchers/{}", voucher.id)>{texts.shop_page}</a>
            </p>
            <dl class="numbers">{numbers}</dl>
            {(voucher.state != SaleState::Ended).then(|| controls(&voucher, texts))}
            {history(audit, texts)}
        </Frame>
    }
    .into_any()
}

fn controls(voucher: &Voucher, texts: &'static Admin) -> impl IntoView + use<> {
    let id = voucher.id.to_string();
    let button = |action: &'static str, label: &'static str, class: &'static str| {
        view! { <button type="submit" name="action" value=action class=class>{label}</button> }
    };
    let turn = if voucher.state == SaleState::Paused {
        button("resume", texts.resume, "main")
    } else {
        button("pause", texts.pause, "quiet")
    };
    view! {
        <div class="two">
            <section>
                <h2>{texts.steer}</h2>
                <form method="post" action=Steer::PATH class="row">
                    <input type="hidden" name="voucher_id" value=id.clone()/>
                    {turn}
                    {button("end", texts.end, "danger")}
                </form>
                <p class="hint">{texts.end_hint}</p>
            </section>
            <section>
                <h2>{texts.restock}</h2>
                <form method="post" action=Restock::PATH class="stack">
                    <input type="hidden" name="voucher_id" value=id/>
                    <Field name="delta" label=texts.delta value=context::query("delta") error=wrong("delta")/>
                    <Field name="reason" label=texts.reason value=context::query("reason") error=wrong("reason")/>
                    <button type="submit" class="quiet">{texts.change}</button>
                </form>
            </section>
        </div>
    }
}

fn history(audit: Vec<AuditLine>, texts: &'static Admin) -> impl IntoView {
    let lines: Vec<_> = audit
        .into_iter()
        .map(|line| {
            let actor = line
                .actor
                .map_or_else(|| texts.system.to_owned(), |id| (texts.account)(id.to_string()));
            view! {
                <li>
                    {time(line.at)} " · " {actor} " · " <strong>{line.action}</strong> " " {line.detail}
                </li>
            }
        })
        .collect();
    view! {
        <section>
            <h2>{texts.audit}</h2>
            <ul class="history">{lines}</ul>
        </section>
    }
}
