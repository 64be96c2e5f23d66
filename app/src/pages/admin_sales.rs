//! All sales by state, for operators: what was published, where the units are, and whether Redis holds each.

use std::collections::HashMap;

use domain::{SaleState, Voucher, VoucherId};
use engine::{EngineError, SaleSum};
use leptos::prelude::*;

use super::{
    admin_frame::{Console, News, operator},
    missing,
    voucher::time,
};
use crate::{
    PageContext, context,
    texts::{Admin, Preload, grouped},
};

/// The groups, in the order in which they matter.
const GROUPS: [SaleState; 5] = [
    SaleState::Live,
    SaleState::Paused,
    SaleState::Scheduled,
    SaleState::Draft,
    SaleState::Ended,
];

/// `/admin`
#[component]
pub(crate) fn AdminSales() -> impl IntoView {
    let context = use_context::<PageContext>();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        if let Err(page) = operator(&context, "/admin").await {
            return page;
        }
        match load(&context).await {
            Ok((vouchers, sums)) => page(&vouchers, &sums),
            Err(error) => missing::broken(&error),
        }
    })
}

type Sums = HashMap<VoucherId, SaleSum>;

async fn load(context: &PageContext) -> Result<(Vec<Voucher>, Sums), EngineError> {
    let mut vouchers = context.engine.vouchers().await?;
    vouchers.extend(context.engine.drafts().await?);
    let sums = context.engine.overview().await?.sales;
    Ok((
        vouchers,
        sums.into_iter().map(|sum| (sum.voucher_id, sum)).collect(),
    ))
}

/// Whether Redis holds a sale as the ledger has it.
pub(super) fn preload(state: SaleState, sum: &SaleSum) -> Preload {
    match sum {
        SaleSum { loaded: true, .. } => Preload::Done,
        _ if matches!(state, SaleState::Ended | SaleState::Draft) => Preload::NotNeeded,
        SaleSum {
            redis_stock: None, ..
        } => Preload::Missing,
        _ => Preload::Differs,
    }
}

fn page(vouchers: &[Voucher], sums: &Sums) -> AnyView {
    let texts = context::lang().admin();
    let groups: Vec<_> = GROUPS
        .into_iter()
        .filter_map(|state| group(state, vouchers, sums, texts))
        .collect();
    let empty = vouchers.is_empty();
    view! {
        <Console title=texts.sales.to_owned() here="/admin">
            <div class="bar">
                <h1>{texts.sales}</h1>
                <a class="main" href="/admin/vouchers/new">{texts.new}</a>
            </div>
            <News/>
            {empty.then(|| view! { <p class="empty">{texts.none}</p> })}
            {groups}
            <p class="hint">{texts.preload_hint}</p>
        </Console>
    }
    .into_any()
}

fn group(
    state: SaleState,
    vouchers: &[Voucher],
    sums: &Sums,
    texts: &'static Admin,
) -> Option<impl IntoView + use<>> {
    let rows: Vec<_> = vouchers
        .iter()
        .filter(|voucher| voucher.state == state)
        .map(|voucher| row(voucher, sums.get(&voucher.id), texts))
        .collect();
    let name = texts.state_of(state);
    let heading = format!("group-{}", state.word());
    (!rows.is_empty()).then(|| {
        view! {
            <section class="group" data-group=state.word()>
                <h2 id=heading.clone()>{name} " " <span class="count">{rows.len()}</span></h2>
                <div class="scroll" tabindex="0" role="region" aria-labelledby=heading>
                    <table class="sales">
                        <thead>
                            <tr>
                                <th scope="col">{texts.title}</th>
                                <th scope="col">{texts.window}</th>
                                <th scope="col">{texts.preload}</th>
                                <th scope="col" class="number">{texts.units}</th>
                                <th scope="col" class="number">{texts.sold}</th>
                                <th scope="col" class="number">{texts.left}</th>
                                <th scope="col" class="number">{texts.in_flight}</th>
                                <th scope="col" class="number">{texts.drift}</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </section>
        }
    })
}

fn row(voucher: &Voucher, sum: Option<&SaleSum>, texts: &'static Admin) -> impl IntoView + use<> {
    let number = |of: fn(&SaleSum) -> i64| sum.map_or_else(|| "–".to_owned(), |sum| grouped(of(sum)));
    let preload = sum.map(|sum| preload(voucher.state, sum));
    view! {
        <tr>
            <th scope="row"><a href=format!("/admin/vouchers/{}", voucher.id)>{voucher.title.clone()}</a></th>
            <td class="window">{time(voucher.begins_at)} <br/> {time(voucher.ends_at)}</td>
            <td>
                {preload.map(|preload| view! {
                    <span class="badge" data-preload=preload.word()>{texts.preload_of(preload)}</span>
                })}
            </td>
            <td class="number">{grouped(voucher.initial_stock)}</td>
            <td class="number">{number(|sum| sum.live_orders)}</td>
            <td class="number">{grouped(voucher.stock)}</td>
            <td class="number">{number(|sum| sum.in_flight)}</td>
            <td class="number" data-drift=sum.is_some_and(|sum| sum.drift != 0).then_some("true")>
                {number(|sum| sum.drift)}
            </td>
        </tr>
    }
}
