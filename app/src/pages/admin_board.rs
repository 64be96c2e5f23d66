//! The live board of a sale. The numbers stand in the page; a script moves them as the server tells, once a second.

use domain::VoucherId;
use engine::{SaleSum, StreamState};
use leptos::prelude::*;

use crate::{context, texts::grouped};

/// Rates as a chart, and where the units and the entries are.
#[component]
pub(super) fn Board(
    /// Of which sale.
    id: VoucherId,
    /// Its units.
    sum: SaleSum,
    /// The streams of all sales.
    streams: Vec<StreamState>,
) -> impl IntoView {
    let texts = context::lang().admin();
    let words = &texts.board;
    let none = || "–".to_owned();
    let oldest = streams.iter().filter_map(|stream| stream.oldest_ms).max();
    let oldest = oldest.map_or_else(none, |ms| format!("{}.{} s", ms / 1000, ms % 1000 / 100));
    let (waiting, dead) = streams.into_iter().fold((0, 0), |(waiting, dead), stream| {
        (waiting + stream.waiting, dead + stream.dead)
    });
    let shown = |count: u64| grouped(count.try_into().unwrap_or(i64::MAX));
    let numbers: Vec<_> = [
        ("units", texts.units, grouped(sum.units)),
        ("sold", texts.sold, grouped(sum.live_orders)),
        (
            "redis-stock",
            words.redis_stock,
            sum.redis_stock.map_or_else(none, grouped),
        ),
        ("ledger-stock", words.ledger_stock, grouped(sum.ledger_stock)),
        ("in-flight", texts.in_flight, grouped(sum.in_flight)),
        ("failed", words.failed_all, grouped(sum.failed_orders)),
        ("drift", texts.drift, grouped(sum.drift)),
        ("pending", words.pending, shown(waiting)),
        ("oldest", words.oldest, oldest),
        ("dead", words.dead, shown(dead)),
        ("streams", words.streams, none()),
    ]
    .into_iter()
    .map(|(name, label, number)| view! { <div><dt>{label}</dt><dd data-n=name>{number}</dd></div> })
    .collect();
    let rates: Vec<_> = [
        ("accepted", words.accepted),
        ("confirmed", words.confirmed),
        ("failed", words.failed),
    ]
    .into_iter()
    .map(|(name, label)| {
        view! {
            <div class=name>
                <dt>{label}</dt>
                <dd><strong data-n=format!("{name}-rate")>"–"</strong> " " {words.a_second}</dd>
            </div>
        }
    })
    .collect();
    view! {
        <section class="board" data-board=id.to_string()>
            <div class="bar">
                <h2>{words.title}</h2>
                <p class="pulse" data-live=words.live data-lost=words.lost></p>
                <noscript>
                    <p class="hint">{words.still} " " <a href=format!("/admin/vouchers/{id}")>{words.refresh}</a></p>
                </noscript>
            </div>
            <figure class="chart">
                <dl class="rates">{rates}</dl>
                <svg viewBox="0 0 600 120" preserveAspectRatio="none" role="img" aria-label=words.chart>
                    <line x1="0" y1="6" x2="600" y2="6"/>
                    <line x1="0" y1="62" x2="600" y2="62"/>
                    <line x1="0" y1="118" x2="600" y2="118"/>
                    <polyline class="accepted" points=""/>
                    <polyline class="confirmed" points=""/>
                    <polyline class="failed" points=""/>
                </svg>
                <p class="top" data-n="top" aria-hidden="true"></p>
                <p class="axis" aria-hidden="true"><span>{words.a_minute_ago}</span><span>{words.now}</span></p>
            </figure>
            <dl class="numbers">{numbers}</dl>
            <p class="hint">{words.hint}</p>
        </section>
    }
}
