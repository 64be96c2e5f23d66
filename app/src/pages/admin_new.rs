//! The form of a new sale. A plain form: what is wrong comes back beside the fields, with all that was typed.

use std::time::Duration;

use domain::Timestamp;
use leptos::{prelude::*, server_fn::ServerFn};

use super::{
    admin_form::{SaleFields, typed},
    admin_frame::{Console, operator, wrong},
    missing,
};
use crate::{
    PageContext, context, format,
    functions::{CreateSale, DraftForm},
};

/// What the form proposes for the length of a sale.
const USUAL_LENGTH: Duration = Duration::from_hours(2);
/// What the form proposes for the time until the opening.
const USUAL_NOTICE: Duration = Duration::from_mins(10);

/// `/admin/vouchers/new`
#[component]
pub(crate) fn AdminNew() -> impl IntoView {
    let context = use_context::<PageContext>();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        match operator(&context, "/admin/vouchers/new").await {
            Ok(()) => page(context.engine.now()),
            Err(page) => page,
        }
    })
}

fn page(now: Timestamp) -> AnyView {
    let texts = context::lang().admin();
    let fresh = context::query("wrong").is_empty();
    let form = if fresh {
        DraftForm {
            begins_at: format::utc_field(now + USUAL_NOTICE),
            ends_at: format::utc_field(now + USUAL_NOTICE + USUAL_LENGTH),
            ..DraftForm::default()
        }
    } else {
        typed()
    };
    let trouble = wrong("form").and(texts.told("trouble"));
    view! {
        <Console title=texts.new.to_owned() here="/admin/vouchers/new">
            <div class="narrow">
                <h1>{texts.new}</h1>
                {(!fresh).then(|| view! {
                    <p class="news bad" role="alert">{trouble.unwrap_or(texts.look_again)}</p>
                })}
                <form method="post" action=CreateSale::PATH class="stack">
                    <SaleFields form new=true begins_hint=texts.begins_hint/>
                    <div class="row">
                        <button type="submit" class="main">{texts.publish}</button>
                        <button type="submit" class="quiet" name="as_draft" value="yes">{texts.keep_draft}</button>
                    </div>
                </form>
            </div>
        </Console>
    }
    .into_any()
}
