//! A labelled field with what is wrong with it beside it.

use leptos::prelude::*;

/// One field of a form. What was typed stays, what is wrong is said below it and joined to it for readers.
#[component]
pub(super) fn Field(
    /// The name under which the form sends it.
    name: &'static str,
    /// What people read.
    #[prop(into)]
    label: String,
    /// What was typed.
    #[prop(optional)]
    value: String,
    /// What is wrong.
    #[prop(optional_no_strip)]
    error: Option<&'static str>,
    /// What helps to fill it in.
    #[prop(optional)]
    hint: &'static str,
    /// The kind of the input; `textarea` for several lines.
    #[prop(default = "text")]
    kind: &'static str,
    /// Which keyboard a phone shows.
    #[prop(optional)]
    keyboard: &'static str,
    /// What a browser may fill in by itself.
    #[prop(default = "off")]
    autofill: &'static str,
    /// Whether one starts here.
    #[prop(optional)]
    first: bool,
) -> impl IntoView {
    let id = format!("field-{}", name.replace(['[', ']'], "-"));
    let (hint_id, error_id) = (format!("{id}-hint"), format!("{id}-error"));
    let described = match (error.is_some(), hint.is_empty()) {
        (true, true) => Some(error_id.clone()),
        (true, false) => Some(format!("{error_id} {hint_id}")),
        (false, false) => Some(hint_id.clone()),
        (false, true) => None,
    };
    let invalid = error.map(|_| "true");
    let keyboard = (!keyboard.is_empty()).then_some(keyboard);
    let input = if kind == "textarea" {
        view! {
            <textarea id=id.clone() name=name rows="4" aria-invalid=invalid aria-describedby=described>{value}</textarea>
        }
        .into_any()
    } else {
        view! {
            <input
                id=id.clone()
                name=name
                type=kind
                value=value
                inputmode=keyboard
                autocomplete=autofill
                autofocus=first
                aria-invalid=invalid
                aria-describedby=described
            />
        }
        .into_any()
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            {input}
            {error.map(|error| view! { <p class="error" id=error_id>{error}</p> })}
            {(!hint.is_empty()).then(|| view! { <p class="hint" id=hint_id>{hint}</p> })}
        </div>
    }
}
