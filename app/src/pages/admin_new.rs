//! The form of a new sale. A plain form: what is wrong comes back beside the fields, with all that was typed.

use std::time::Duration;

use domain::Timestamp;
use leptos::{prelude::*, server_fn::ServerFn};

use super::{admin_sales::operator, field::Field, frame::Frame, missing};
use crate::{PageContext, context, format, functions::CreateSale};

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
            Ok(()) => form(context.engine.now()),
            Err(page) => page,
        }
    })
}

/// What is wrong with a field, from the address that the function sent the form back to.
pub(super) fn wrong(field: &str) -> Option<&'static str> {
    let listed = context::query("wrong");
    let code = listed.split(',').find_map(|pair| {
        let (name, code) = pair.split_once(':')?;
        (name == field).then_some(code)
    })?;
    Some(context::lang().admin().wrong(field, code))
}

fn form(now: Timestamp) -> AnyView {
    let texts = context::lang().admin();
    let fresh = context::query("wrong").is_empty();
    let typed = move |name: &str, proposed: String| if fresh { proposed } else { context::query(name) };
    let nothing = String::new;
    let begins = format::utc_field(now + USUAL_NOTICE);
    let ends = format::utc_field(now + USUAL_NOTICE + USUAL_LENGTH);
    let utc = |label: &'static str| format!("{label} ({})", texts.utc);
    view! {
        <Frame title=texts.new.to_owned() operator=true>
            <div class="narrow">
                <p class="back"><a href="/admin">{texts.sales}</a></p>
                <h1>{texts.new}</h1>
                {(!fresh).then(|| view! {
                    <p class="news bad" role="alert">{wrong("form").map_or(texts.look_again, |_| texts.told("trouble").unwrap_or(texts.look_again))}</p>
                })}
                <form method="post" action=CreateSale::PATH class="stack">
                    <Field name="draft[title]" label=texts.title value=typed("title", nothing()) error=wrong("title") first=true/>
                    <Field name="draft[sub_title]" label=texts.sub_title value=typed("sub_title", nothing()) error=wrong("sub_title")/>
                    <Field name="draft[rules]" label=texts.rules kind="textarea" value=typed("rules", nothing()) error=wrong("rules")/>
                    <div class="pair">
                        <Field
                            name="draft[pay_value]" label=texts.pay_value hint=texts.money_hint keyboard="decimal"
                            value=typed("pay_value", nothing()) error=wrong("pay_value")
                        />
                        <Field
                            name="draft[actual_value]" label=texts.actual_value keyboard="decimal"
                            value=typed("actual_value", nothing()) error=wrong("actual_value")
                        />
                    </div>
                    <Field
                        name="draft[stock]" label=texts.stock keyboard="numeric"
                        value=typed("stock", nothing()) error=wrong("stock")
                    />
                    <div class="pair">
                        <Field
                            name="draft[begins_at]" label=utc(texts.begins_at) kind="datetime-local" hint=texts.begins_hint
                            value=typed("begins_at", begins) error=wrong("begins_at")
                        />
                        <Field
                            name="draft[ends_at]" label=utc(texts.ends_at) kind="datetime-local"
                            value=typed("ends_at", ends) error=wrong("ends_at")
                        />
                    </div>
                    <button type="submit" class="main">{texts.publish}</button>
                </form>
            </div>
        </Frame>
    }
    .into_any()
}
