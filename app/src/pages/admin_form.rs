//! The fields of a sale, for a new one and for one that is there.

use leptos::prelude::*;

use super::{admin_frame::wrong, field::Field};
use crate::{
    context, format,
    functions::{DraftForm, utc},
};

/// What a sale says of itself, its prices and its window; the stock only for a new one.
#[component]
pub(super) fn SaleFields(
    /// What the fields show.
    form: DraftForm,
    /// Whether the sale is new.
    #[prop(optional)]
    new: bool,
    /// Below the begin.
    #[prop(optional)]
    begins_hint: &'static str,
) -> impl IntoView {
    let texts = context::lang().admin();
    view! {
        <Field name="draft[title]" label=texts.title value=form.title error=wrong("title") first=new/>
        <Field name="draft[sub_title]" label=texts.sub_title value=form.sub_title error=wrong("sub_title")/>
        <Field name="draft[rules]" label=texts.rules kind="textarea" value=form.rules error=wrong("rules")/>
        <div class="pair">
            <Field
                name="draft[pay_value]" label=texts.pay_value hint=texts.money_hint keyboard="decimal"
                value=form.pay_value error=wrong("pay_value")
            />
            <Field
                name="draft[actual_value]" label=texts.actual_value keyboard="decimal"
                value=form.actual_value error=wrong("actual_value")
            />
        </div>
        {new.then(|| view! {
            <Field name="draft[stock]" label=texts.stock keyboard="numeric" value=form.stock error=wrong("stock")/>
        })}
        <div class="pair">
            <TimeField name="begins_at" label=texts.begins_at value=form.begins_at hint=begins_hint/>
            <TimeField name="ends_at" label=texts.ends_at value=form.ends_at/>
        </div>
    }
}

/// A time in UTC, with its zone beside it and a preview below: in UTC, and with scripts in the reader's zone too.
#[component]
fn TimeField(
    /// The field's name in the draft.
    name: &'static str,
    /// What people read.
    label: &'static str,
    /// What was typed.
    value: String,
    /// What helps to fill it in.
    #[prop(optional)]
    hint: &'static str,
) -> impl IntoView {
    let texts = context::lang().admin();
    let error = wrong(name);
    let id = format!("field-{name}");
    let (hint_id, error_id, preview_id) = (
        format!("{id}-hint"),
        format!("{id}-error"),
        format!("{id}-preview"),
    );
    let mut described = vec![preview_id.clone()];
    if error.is_some() {
        described.insert(0, error_id.clone());
    }
    if !hint.is_empty() {
        described.push(hint_id.clone());
    }
    // Browsers refuse, and don't show, what is finer than the step.
    let step = match value.len() {
        ..=16 => "60",
        17..=19 => "1",
        _ => "0.001",
    };
    let preview = utc(&value).map(format::utc);
    view! {
        <div class="field">
            <label for=id.clone()>{format!("{label} ({})", texts.utc)}</label>
            <input
                id=id.clone()
                name=format!("draft[{name}]")
                type="datetime-local"
                step=step
                value=value
                autocomplete="off"
                aria-invalid=error.map(|_| "true")
                aria-describedby=described.join(" ")
            />
            {error.map(|error| view! { <p class="error" id=error_id>{error}</p> })}
            <output class="hint" id=preview_id for=id data-zone=texts.your_zone>{preview}</output>
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
        </div>
    }
}

/// What was typed before the form came back.
pub(super) fn typed() -> DraftForm {
    DraftForm {
        title: context::query("title"),
        sub_title: context::query("sub_title"),
        rules: context::query("rules"),
        pay_value: context::query("pay_value"),
        actual_value: context::query("actual_value"),
        stock: context::query("stock"),
        begins_at: context::query("begins_at"),
        ends_at: context::query("ends_at"),
    }
}
