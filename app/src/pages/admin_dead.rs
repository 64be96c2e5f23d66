//! The dead letters: why each died, what is in it, and what can be done.

use engine::DeadLetter;
use leptos::{prelude::*, server_fn::ServerFn};

use super::{
    admin_frame::{Console, News, operator},
    missing,
    voucher::time,
};
use crate::{
    PageContext, context,
    functions::{ReleaseLetter, ReplayLetter},
    texts::DeadWords,
};

/// `/admin/dead`
#[component]
pub(crate) fn AdminDead() -> impl IntoView {
    let context = use_context::<PageContext>();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        if let Err(page) = operator(&context, "/admin/dead").await {
            return page;
        }
        match context.engine.dead_letters().await {
            Ok(letters) => page(letters),
            Err(error) => missing::broken(&error),
        }
    })
}

fn page(letters: Vec<DeadLetter>) -> AnyView {
    let words = &context::lang().admin().dead;
    let empty = letters.is_empty();
    let letters: Vec<_> = letters.into_iter().map(|letter| shown(letter, words)).collect();
    view! {
        <Console title=words.title.to_owned() here="/admin/dead">
            <h1>{words.title}</h1>
            <p class="lead">{words.lead}</p>
            <News/>
            {empty.then(|| view! { <p class="empty">{words.none}</p> })}
            <ul class="letters">{letters}</ul>
        </Console>
    }
    .into_any()
}

fn shown(letter: DeadLetter, words: &'static DeadWords) -> impl IntoView {
    let (name, meaning) = words.reason(&letter.reason).map_or_else(
        || (letter.reason.clone(), ""),
        |(name, meaning)| (name.to_owned(), meaning),
    );
    let order = letter.order_id.map(|id| {
        view! {
            <dt>{words.order}</dt>
            <dd><a href=format!("/admin/orders?id={id}")><code>{id.to_string()}</code></a></dd>
        }
    });
    let sale = letter.voucher_id.map(|id| {
        view! { <dt>{words.sale}</dt><dd><a href=format!("/admin/vouchers/{id}")>{id.to_string()}</a></dd> }
    });
    let user = letter
        .user_id
        .map(|id| view! { <dt>{words.user}</dt><dd>{id.to_string()}</dd> });
    let replays = letter.order_id.is_some().then(|| {
        view! {
            <form method="post" action=ReplayLetter::PATH>
                <input type="hidden" name="letter_id" value=letter.id.clone()/>
                <button type="submit" class="main">{words.replay}</button>
                <p class="hint">{words.replay_hint}</p>
            </form>
        }
    });
    let (release, hint, sure) = match letter.order_id {
        Some(_) => (words.release, words.release_hint, Some(words.release_sure)),
        None => (words.drop, words.drop_hint, None),
    };
    let confirm = match sure {
        Some(sure) => view! {
            <label class="tick"><input type="checkbox" name="sure" value="yes" required/> {sure}</label>
        }
        .into_any(),
        // Opening the question is enough where nothing is at stake.
        None => view! { <input type="hidden" name="sure" value="yes"/> }.into_any(),
    };
    let id = letter.id.clone();
    view! {
        <li class="order letter" data-reason=letter.reason data-letter=id>
            <div class="bar">
                <h2 data-state="failed"><span class="badge">{name}</span></h2>
                <p class="facts">{words.died} " " {time(letter.at)}</p>
            </div>
            <p>{meaning}</p>
            <dl class="times">{order}{sale}{user}</dl>
            <p class="facts">{words.payload}</p>
            <pre tabindex="0"><code>{letter.payload}</code></pre>
            <div class="two">
                {replays}
                <details class="sure">
                    <summary>{release}</summary>
                    <form method="post" action=ReleaseLetter::PATH class="stack">
                        <p>{hint}</p>
                        <input type="hidden" name="letter_id" value=letter.id/>
                        {confirm}
                        <button type="submit" class="danger">
                            {if sure.is_some() { words.release_now } else { words.drop.trim_end_matches('…') }}
                        </button>
                    </form>
                </details>
            </div>
        </li>
    }
}
