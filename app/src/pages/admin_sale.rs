//! One sale, for operators: where its units are, what can be done, and what was done.

use domain::{SaleState, Voucher, VoucherId};
use engine::{EngineError, SaleSum, StreamState};
use leptos::{prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_params_map;

use super::{
    admin_board::Board,
    admin_form::{SaleFields, typed},
    admin_frame::{Console, News, operator, wrong},
    admin_history::{Entry, History, named},
    admin_sales::preload,
    field::Field,
    missing,
    voucher::time,
};
use crate::{
    PageContext, context,
    functions::{DraftForm, EditSale, Restock, Steer},
    texts::{Admin, Preload, grouped},
};

/// The id in the page's address.
pub(super) fn addressed() -> Option<VoucherId> {
    use_params_map()
        .with_untracked(|params| params.get("id"))?
        .parse()
        .ok()
}

/// `/admin/vouchers/{id}`
#[component]
pub(crate) fn AdminSale() -> impl IntoView {
    let context = use_context::<PageContext>();
    let id = addressed();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        let here = id.map_or_else(|| "/admin".to_owned(), |id| format!("/admin/vouchers/{id}"));
        if let Err(page) = operator(&context, &here).await {
            return page;
        }
        let Some(id) = id else {
            return missing::missing();
        };
        match load(&context, id).await {
            Ok(Some(loaded)) => page(loaded),
            Ok(None) => missing::missing(),
            Err(error) => missing::broken(&error),
        }
    })
}

struct Loaded {
    voucher: Voucher,
    sum: SaleSum,
    streams: Vec<StreamState>,
    entries: Vec<Entry>,
    begun: bool,
}

async fn load(context: &PageContext, id: VoucherId) -> Result<Option<Loaded>, EngineError> {
    let engine = &context.engine;
    let (Some(voucher), Some(sum)) = (engine.sale(id).await?, engine.sum(id).await?) else {
        return Ok(None);
    };
    let lines = engine.audit(id).await?;
    Ok(Some(Loaded {
        sum,
        streams: engine.streams().await?,
        entries: named(engine, lines).await?,
        begun: voucher.state != SaleState::Draft && voucher.begins_at <= engine.now(),
        voucher,
    }))
}

fn page(loaded: Loaded) -> AnyView {
    let Loaded {
        voucher,
        sum,
        streams,
        entries,
        begun,
    } = loaded;
    let texts = context::lang().admin();
    let preload = preload(voucher.state, &sum);
    let (over, draft) = (
        voucher.state == SaleState::Ended,
        voucher.state == SaleState::Draft,
    );
    view! {
        <Console title=voucher.title.clone()>
            <div class="bar">
                <h1>{voucher.title.clone()}</h1>
                {state(voucher.state, texts)}
            </div>
            <News/>
            {matches!(preload, Preload::Missing | Preload::Differs).then(|| view! {
                <p class="news bad" data-preload=preload.word()>{texts.not_loaded}</p>
            })}
            <p class="facts">
                {time(voucher.begins_at)} " – " {time(voucher.ends_at)} " · "
                {if draft {
                    view! { {texts.units} " " <strong data-n="units">{grouped(sum.units)}</strong> }.into_any()
                } else {
                    let word = preload.word();
                    view! {
                        <span class="badge" data-preload=word>{texts.preload} ": " {texts.preload_of(preload)}</span>
                    }
                    .into_any()
                }}
            </p>
            {if draft {
                publishing(&voucher, texts).into_any()
            } else {
                view! {
                    <ul class="links">
                        <li><a href=format!("/vouchers/{}", voucher.id)>{texts.shop_page}</a></li>
                        <li><a href=format!("/admin/vouchers/{}/report", voucher.id)>{texts.report.title}</a></li>
                        <li><a href=format!("/admin/orders?voucher={}", voucher.id)>{texts.finder.title}</a></li>
                    </ul>
                    <Board id=voucher.id sum streams/>
                }
                .into_any()
            }}
            {(!over && !draft).then(|| controls(&voucher, texts))}
            {(!over).then(|| edit(&voucher, begun, texts))}
            <History entries/>
        </Console>
    }
    .into_any()
}

/// The state, with its other words at hand for when it changes.
fn state(state: SaleState, texts: &'static Admin) -> impl IntoView {
    let all = [
        SaleState::Scheduled,
        SaleState::Live,
        SaleState::Paused,
        SaleState::Ended,
    ];
    let words: std::collections::BTreeMap<_, _> = all
        .into_iter()
        .map(|state| (state.word(), texts.state_of(state)))
        .collect();
    let words = serde_json::to_string(&words).unwrap_or_default();
    view! { <span class="badge" data-n="state" data-words=words data-state=state.word()>{texts.state_of(state)}</span> }
}

fn controls(voucher: &Voucher, texts: &'static Admin) -> impl IntoView + use<> {
    let id = voucher.id.to_string();
    let (action, label, class) = if voucher.state == SaleState::Paused {
        ("resume", texts.resume, "main")
    } else {
        ("pause", texts.pause, "quiet")
    };
    view! {
        <div class="two">
            <section>
                <h2>{texts.steer}</h2>
                <form method="post" action=Steer::PATH>
                    <input type="hidden" name="voucher_id" value=id.clone()/>
                    <button type="submit" name="action" value=action class=class>{label}</button>
                </form>
                <details class="sure">
                    <summary>{texts.end}</summary>
                    <form method="post" action=Steer::PATH class="stack">
                        <p>{texts.end_hint}</p>
                        <input type="hidden" name="voucher_id" value=id.clone()/>
                        <input type="hidden" name="action" value="end"/>
                        <label class="tick"><input type="checkbox" name="sure" value="yes" required/> {texts.end_sure}</label>
                        <button type="submit" class="danger">{texts.end_now}</button>
                    </form>
                </details>
            </section>
            {restocking(id, texts)}
        </div>
    }
}

/// What can be done with a draft.
fn publishing(voucher: &Voucher, texts: &'static Admin) -> impl IntoView + use<> {
    let id = voucher.id.to_string();
    view! {
        <div class="two">
            <section>
                <h2>{texts.steer}</h2>
                <form method="post" action=Steer::PATH class="stack">
                    <p class="hint">{texts.draft_hint}</p>
                    <input type="hidden" name="voucher_id" value=id.clone()/>
                    <button type="submit" name="action" value="publish" class="main">{texts.publish}</button>
                </form>
            </section>
            {restocking(id, texts)}
        </div>
    }
}

fn restocking(id: String, texts: &'static Admin) -> impl IntoView + use<> {
    view! {
        <section id="restock">
            <h2>{texts.restock}</h2>
            <form method="post" action=Restock::PATH class="stack">
                <input type="hidden" name="voucher_id" value=id/>
                <Field
                    name="delta" label=texts.delta hint=texts.delta_hint
                    value=context::query("delta") error=wrong("delta")
                />
                <Field name="reason" label=texts.reason value=context::query("reason") error=wrong("reason")/>
                <button type="submit" class="quiet">{texts.change}</button>
            </form>
        </section>
    }
}

fn edit(voucher: &Voucher, begun: bool, texts: &'static Admin) -> impl IntoView + use<> {
    let shown = DraftForm::of(voucher);
    // The other form on this page comes back with its own fields.
    let ours = [
        "form",
        "title",
        "sub_title",
        "rules",
        "pay_value",
        "actual_value",
        "begins_at",
        "ends_at",
    ];
    let again = ours.iter().any(|field| wrong(field).is_some());
    let trouble = wrong("form").and(texts.told("trouble"));
    let was: Vec<_> = [
        ("was[title]", &shown.title),
        ("was[sub_title]", &shown.sub_title),
        ("was[rules]", &shown.rules),
        ("was[pay_value]", &shown.pay_value),
        ("was[actual_value]", &shown.actual_value),
        ("was[begins_at]", &shown.begins_at),
        ("was[ends_at]", &shown.ends_at),
    ]
    .into_iter()
    .map(|(name, value)| view! { <input type="hidden" name=name value=value.clone()/> })
    .collect();
    let form = if again { typed() } else { shown };
    view! {
        <details class="edit" id="edit" open=again>
            <summary><h2>{texts.edit}</h2></summary>
            <form method="post" action=EditSale::PATH class="narrow stack">
                <p class="hint">{texts.edit_hint}</p>
                {again.then(|| view! {
                    <p class="news bad" role="alert">{trouble.unwrap_or(texts.look_again)}</p>
                })}
                <input type="hidden" name="voucher_id" value=voucher.id.to_string()/>
                {was}
                <SaleFields form begins_hint=if begun { texts.begun_hint } else { texts.begins_hint }/>
                <button type="submit" class="main">{texts.save}</button>
            </form>
        </details>
    }
}
