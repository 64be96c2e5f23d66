//! The list of sales.

use domain::{SaleState, Timestamp, Voucher};
use leptos::prelude::*;

use super::{frame::Frame, missing};
use crate::{
    PageContext, context,
    document::Wake,
    format,
    islands::SaleLine,
    model::SaleProps,
    texts::{Lang, Pages},
};

/// `/`
#[component]
pub(crate) fn Sales() -> impl IntoView {
    let context = use_context::<PageContext>();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        match context.engine.vouchers().await {
            Ok(vouchers) => list(vouchers, context.engine.now()),
            Err(error) => missing::broken(&error),
        }
    })
}

fn list(vouchers: Vec<Voucher>, now: Timestamp) -> AnyView {
    let lang = context::lang();
    let texts = lang.pages();
    let empty = vouchers.is_empty();
    let (over, mut rest): (Vec<_>, Vec<_>) = vouchers
        .into_iter()
        .partition(|voucher| voucher.state == SaleState::Ended);
    rest.sort_by_key(|voucher| voucher.begins_at);
    let (open, coming): (Vec<_>, Vec<_>) = rest.into_iter().partition(|voucher| voucher.begins_at <= now);
    view! {
        <Frame title=texts.sales.to_owned()>
            <div class="hero">
                <h1>{texts.name}</h1>
                <p class="lead">{texts.slogan}</p>
            </div>
            {empty.then(|| view! { <p class="empty">{texts.no_sales}</p> })}
            {group(texts.open_now, open, now, lang)}
            {group(texts.coming, coming, now, lang)}
            {group(texts.over, over, now, lang)}
        </Frame>
        {(!empty).then(|| view! { <Wake/> })}
    }
    .into_any()
}

fn group(title: &'static str, vouchers: Vec<Voucher>, now: Timestamp, lang: Lang) -> Option<impl IntoView> {
    (!vouchers.is_empty()).then(|| {
        let cards: Vec<_> = vouchers
            .into_iter()
            .map(|voucher| card(voucher, now, lang))
            .collect();
        view! {
            <section class="group">
                <h2>{title}</h2>
                <ul class="cards">{cards}</ul>
            </section>
        }
    })
}

fn card(voucher: Voucher, now: Timestamp, lang: Lang) -> impl IntoView {
    let sale = props(&voucher, now, lang);
    view! {
        <li class="card" data-state=voucher.state.word()>
            <h3><a href=format!("/vouchers/{}", voucher.id)>{voucher.title}</a></h3>
            <p class="sub">{voucher.sub_title}</p>
            {price(voucher.pay_value, voucher.actual_value, lang.pages())}
            <SaleLine sale/>
        </li>
    }
}

/// What the island of a sale needs.
pub(super) fn props(voucher: &Voucher, now: Timestamp, lang: Lang) -> SaleProps {
    SaleProps {
        voucher_id: voucher.id,
        stock: Some(voucher.stock),
        held: voucher.held,
        initial: voucher.initial_stock,
        state: voucher.state,
        begins_ms: voucher.begins_at.millis(),
        ends_ms: voucher.ends_at.millis(),
        now_ms: now.millis(),
        lang,
    }
}

/// The price, what it is worth, and what is saved.
pub(super) fn price(pay: i64, worth: i64, texts: &Pages) -> impl IntoView + use<> {
    let saved = (worth - pay) * 100 / worth.max(1);
    let saving = (saved > 0).then(|| (texts.saving)(saved));
    let (price, was) = (texts.price, texts.worth);
    view! {
        <p class="price">
            <strong><span class="for-readers">{price} " "</span>{format::money(pay)}</strong>
            " "
            {(worth > pay).then(|| view! {
                <s><span class="for-readers">{was} " "</span>{format::money(worth)}</s>
            })}
            " "
            {saving.map(|saving| view! { <span class="saving">{saving}</span> })}
        </p>
    }
}
