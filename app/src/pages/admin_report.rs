//! The sum of a sale, which must add up to the unit.

use domain::{Voucher, VoucherId};
use engine::{EngineError, SaleSum};
use leptos::prelude::*;

use super::{
    admin_frame::{Console, operator},
    admin_history::{Entry, History, named},
    admin_sale::addressed,
    missing,
};
use crate::{
    PageContext, context,
    texts::{ReportWords, grouped},
};

/// `/admin/vouchers/{id}/report`
#[component]
pub(crate) fn AdminReport() -> impl IntoView {
    let context = use_context::<PageContext>();
    let id = addressed();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        let here = id.map_or_else(
            || "/admin".to_owned(),
            |id| format!("/admin/vouchers/{id}/report"),
        );
        if let Err(page) = operator(&context, &here).await {
            return page;
        }
        let Some(id) = id else {
            return missing::missing();
        };
        match load(&context, id).await {
            Ok(Some((voucher, sum, changes))) => page(voucher, sum, changes),
            Ok(None) => missing::missing(),
            Err(error) => missing::broken(&error),
        }
    })
}

type Loaded = (Voucher, SaleSum, Vec<Entry>);

async fn load(context: &PageContext, id: VoucherId) -> Result<Option<Loaded>, EngineError> {
    let engine = &context.engine;
    let (Some(voucher), Some(sum)) = (engine.voucher(id).await?, engine.sum(id).await?) else {
        return Ok(None);
    };
    let mut changes = engine.audit(id).await?;
    changes.retain(|line| line.action == "stock");
    let changes = named(engine, changes).await?;
    Ok(Some((voucher, sum, changes)))
}

fn page(voucher: Voucher, sum: SaleSum, changes: Vec<Entry>) -> AnyView {
    let texts = context::lang().admin();
    let words = &texts.report;
    let id = voucher.id;
    let api = format!("/api/v1/admin/vouchers/{id}/report");
    view! {
        <Console title=format!("{} · {}", words.title, voucher.title)>
            <p class="back"><a href=format!("/admin/vouchers/{id}")>{voucher.title.clone()}</a></p>
            <h1>{words.title}</h1>
            <p class="lead">{words.lead}</p>
            {verdict(&sum, words)}
            <div class="two">
                {ledger(&sum, words)}
                {redis(&sum, words)}
            </div>
            <section>
                <h2>{words.returned}</h2>
                <p>
                    {words.failed} ": " <strong data-sum="failed">{grouped(sum.failed_orders)}</strong> ". " {words.failed_hint} " "
                    <a href=format!("/admin/orders?voucher={id}&state=failed")>{words.failed_list}</a>
                </p>
            </section>
            <ul class="links">
                <li><a href=api.clone()>{words.json}</a></li>
                <li><a href=format!("{api}?format=csv") download=format!("report-{id}.csv")>{words.csv}</a></li>
            </ul>
            {if changes.is_empty() {
                view! { <p class="hint">{words.no_changes}</p> }.into_any()
            } else {
                view! { <History entries=changes heading=words.changes/> }.into_any()
            }}
        </Console>
    }
    .into_any()
}

fn verdict(sum: &SaleSum, words: &'static ReportWords) -> impl IntoView + use<> {
    let off = sum.units - sum.live_orders - sum.ledger_stock;
    if off == 0 {
        view! { <p class="news" data-adds-up="true">{words.adds_up}</p> }.into_any()
    } else {
        view! { <p class="news bad" role="alert" data-adds-up="false">{(words.off_by)(grouped(off))}</p> }
            .into_any()
    }
}

fn row(name: &'static str, label: &'static str, number: String, total: bool) -> impl IntoView {
    view! {
        <tr class=total.then_some("total")>
            <th scope="row">{label}</th>
            <td class="number" data-sum=name>{number}</td>
        </tr>
    }
}

fn ledger(sum: &SaleSum, words: &'static ReportWords) -> impl IntoView + use<> {
    let changed = format!(
        "{}{}",
        if sum.changed > 0 { "+" } else { "" },
        grouped(sum.changed)
    );
    view! {
        <table class="sum">
            <tbody>
                {row("published", words.published, grouped(sum.published), false)}
                {row("changed", words.changed, changed, false)}
                {row("units", words.units, grouped(sum.units), true)}
            </tbody>
            <tbody>
                {row("live", words.live_orders, grouped(sum.live_orders), false)}
                {row("left", words.ledger_stock, grouped(sum.ledger_stock), false)}
                {row("accounted", words.accounted, grouped(sum.live_orders + sum.ledger_stock), true)}
            </tbody>
        </table>
    }
}

fn redis(sum: &SaleSum, words: &'static ReportWords) -> impl IntoView + use<> {
    let texts = context::lang().admin();
    let left = sum.redis_stock.map_or_else(|| words.not_held.to_owned(), grouped);
    view! {
        <section>
            <h2>{words.redis}</h2>
            <table class="sum">
                <tbody>
                    {row("redis", words.redis_stock, left, false)}
                    {row("in-flight", texts.in_flight, grouped(sum.in_flight), false)}
                    {row("drift", texts.drift, grouped(sum.drift), true)}
                </tbody>
            </table>
            <p class="hint">{words.drift_hint}</p>
        </section>
    }
}
