//! Logging in: first the phone, then the code. Two plain forms; no script is needed.

use leptos::{prelude::*, server_fn::ServerFn};

use super::{field::Field, frame::Frame};
use crate::{
    PageContext, context,
    functions::{LogIn as LogInFunction, SendCode, local_path, remembered},
};

/// `/login`
#[component]
pub(crate) fn LogIn() -> impl IntoView {
    let texts = context::lang().pages();
    let next = local_path(&context::query("next")).unwrap_or("/").to_owned();
    let told = context::query("told");
    let (phone, demo_code) = remembered();
    let known = use_context::<PageContext>().is_some_and(|context| context.user.is_some());

    let asked = matches!(told.as_str(), "sent" | "wait" | "wrong_code") && !phone.is_empty();
    let message = texts.told(&told);
    let phone_error = message.filter(|_| told == "bad_phone");
    let code_error = message.filter(|_| told == "wrong_code");
    let news = if told == "wait" {
        Some((texts.wait)(context::query("wait").parse().unwrap_or(1)))
    } else {
        let news = message.filter(|_| phone_error.is_none() && code_error.is_none());
        news.map(str::to_owned)
    };
    let send = if asked { texts.send_again } else { texts.send_code };
    let code_form = asked.then(|| {
        let demo = (!demo_code.is_empty()).then(|| (texts.demo_code)(&demo_code));
        view! {
            <form method="post" action=LogInFunction::PATH class="stack">
                <input type="hidden" name="phone" value=phone.clone()/>
                <input type="hidden" name="next" value=next.clone()/>
                {demo.map(|demo| view! { <p class="demo">{demo}</p> })}
                <Field
                    name="code"
                    label=texts.code
                    error=code_error
                    keyboard="numeric"
                    autofill="one-time-code"
                    first=true
                />
                <button type="submit" class="main">{texts.log_in}</button>
            </form>
        }
    });
    view! {
        <Frame title=texts.log_in.to_owned()>
            <div class="narrow">
                <h1>{texts.log_in_lead}</h1>
                {known.then(|| view! { <p class="lead">{texts.logged_in}</p> })}
                {news.map(|news| view! { <p class="news" role="status">{news}</p> })}
                <form method="post" action=SendCode::PATH class="stack">
                    <input type="hidden" name="next" value=next/>
                    <Field
                        name="phone"
                        label=texts.phone
                        value=phone
                        error=phone_error
                        hint=texts.phone_hint
                        kind="tel"
                        autofill="tel-national"
                        first=!asked
                    />
                    <button type="submit" class=if asked { "quiet" } else { "main" }>{send}</button>
                </form>
                {code_form}
            </div>
        </Frame>
    }
}
