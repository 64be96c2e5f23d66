//! All sales, for operators: what was published, and where the units are.

use std::collections::HashMap;

use domain::{Voucher, VoucherId};
use engine::{EngineError, SaleSum};
use leptos::prelude::*;

use super::{frame::Frame, missing};
use crate::{PageContext, context, texts::grouped};

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
            Ok((vouchers, sums)) => page(vouchers, &sums),
            Err(error) => missing::broken(&error),
        }
    })
}

/// Lets operators pass. Others get a page that says what to do.
pub(super) async fn operator(context: &PageContext, here: &str) -> Result<(), AnyView> {
    let Some(user) = context.user else {
        return Err(missing::to_login(here));
    };
    match context.engine.is_admin(user).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(missing::forbidden()),
        Err(error) => Err(missing::broken(&error)),
    }
}

async fn load(context: &PageContext) -> Result<(Vec<Voucher>, HashMap<VoucherId, SaleSum>), EngineError> {
    let vouchers = context.engine.vouchers().await?;
    let sums = context.engine.overview().await?.sales;
    Ok((
        vouchers,
        sums.into_iter().map(|sum| (sum.voucher_id, sum)).collect(),
    ))
}

fn page(vouchers: Vec<Voucher>, sums: &HashMap<VoucherId, SaleSum>) -> AnyView {
    let texts = context::lang().admin();
    let empty = vouchers.is_empty();
    let rows: Vec<_> = vouchers
        .into_iter()
        .map(|voucher| {
            let sum = sums.get(&voucher.id);
            let number = |of: fn(&SaleSum) -> i64| sum.map_or_else(|| "–".to_owned(), |sum| grouped(of(sum)));
            view! {
                <tr>
                    <th scope="row">
                        <a href=format!("/admin/vouchers/{}", voucher.id)>{voucher.title}</a>
                    </th>
                    <td><span class="badge" data-state=voucher.state.word()>{texts.state_of(voucher.state)}</span></td>
                    <td class="number">{grouped(voucher.initial_stock)}</td>
                    <td class="number">{number(|sum| sum.live_orders)}</td>
                    <td class="number">{grouped(voucher.stock)}</td>
                    <td class="number">{number(|sum| sum.in_flight)}</td>
                    <td class="number" data-drift=sum.is_some_and(|sum| sum.drift != 0).then_some("true")>
                        {number(|sum| sum.drift)}
                    </td>
                </tr>
            }
        })
        .collect();
    view! {
        <Frame title=texts.sales.to_owned() operator=true>
            <div class="bar">
                <h1>{texts.sales}</h1>
                <a class="main" href="/admin/vouchers/new">{texts.new}</a>
            </div>
            {empty.then(|| view! { <p class="empty">{texts.none}</p> })}
            <div class="scroll" tabindex="0" role="region" aria-label=texts.sales>
                <table>
                    <thead>
                        <tr>
                            <th scope="col">{texts.title}</th>
                            <th scope="col">{texts.state}</th>
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
        </Frame>
    }
    .into_any()
}
