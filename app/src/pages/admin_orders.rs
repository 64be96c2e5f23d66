//! Looking orders up: a plain form whose fields stand in the address, so that a search can be kept and passed on.

use std::{fmt::Write, str::FromStr};

use domain::OrderState;
use engine::{FoundOrder, OrderSearch};
use leptos::prelude::*;

use super::{
    admin_frame::{Console, operator},
    field::Field,
    missing,
    voucher::time,
};
use crate::{
    PageContext, context,
    format::query_escaped,
    texts::{Admin, Lang},
};

/// As many orders as the engine finds at once: with so many there may be more.
const FULL_PAGE: usize = 200;

/// What the ledger can hold. Queued orders are in Redis only.
const STATES: [OrderState; 7] = [
    OrderState::Confirmed,
    OrderState::Paid,
    OrderState::Used,
    OrderState::Failed,
    OrderState::Cancelled,
    OrderState::Expired,
    OrderState::Refunded,
];

/// `/admin/orders`
#[component]
pub(crate) fn AdminOrders() -> impl IntoView {
    let context = use_context::<PageContext>();
    Suspend::new(async move {
        let Some(context) = context else {
            return missing::missing();
        };
        if let Err(page) = operator(&context, "/admin/orders").await {
            return page;
        }
        let typed = Typed::here();
        let found = match typed.search() {
            Ok(search) => match context.engine.search_orders(&search).await {
                Ok(found) => found,
                Err(error) => return missing::broken(&error),
            },
            Err(Unreadable) => Vec::new(),
        };
        page(typed, found)
    })
}

/// The search as typed.
struct Typed {
    phone: String,
    id: String,
    state: String,
    voucher: String,
    before: String,
}

impl Typed {
    fn here() -> Self {
        let field = |name| context::query(name).trim().to_owned();
        Self {
            phone: field("phone"),
            id: field("id"),
            state: field("state"),
            voucher: field("voucher"),
            before: field("before"),
        }
    }

    fn fields(&self) -> [(&'static str, &str); 5] {
        [
            ("phone", &self.phone),
            ("id", &self.id),
            ("state", &self.state),
            ("voucher", &self.voucher),
            ("before", &self.before),
        ]
    }

    fn search(&self) -> Result<OrderSearch, Unreadable> {
        Ok(OrderSearch {
            phone: read(&self.phone)?,
            id: read(&self.id)?,
            state: read(&self.state)?,
            voucher: read(&self.voucher)?,
            before: read(&self.before)?,
        })
    }

    /// The same search at another address, perhaps from another order on.
    fn link(&self, path: &str, before: &str) -> String {
        let mut link = format!("{path}?");
        for (name, value) in self.fields() {
            let value = if name == "before" { before } else { value };
            if !value.is_empty() {
                // Writing to a String can't fail.
                let _ = write!(link, "{name}={}&", query_escaped(value));
            }
        }
        link.pop();
        link
    }
}

struct Unreadable;

/// An empty field does not narrow the search.
fn read<T: FromStr>(text: &str) -> Result<Option<T>, Unreadable> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| Unreadable)
}

fn page(typed: Typed, found: Vec<FoundOrder>) -> AnyView {
    const HERE: &str = "/admin/orders";
    let lang = context::lang();
    let texts = lang.admin();
    let words = &texts.finder;
    let (count, asked) = (found.len(), typed.search().is_ok());
    let next = found
        .last()
        .filter(|_| count >= FULL_PAGE)
        .map(|last| typed.link(HERE, &last.order.order_id.to_string()));
    let first = (!typed.before.is_empty()).then(|| typed.link(HERE, ""));
    let csv = typed.link("/api/v1/admin/orders", &typed.before);
    let csv = format!("{csv}{}format=csv", if csv.contains('?') { '&' } else { '?' });
    let rows: Vec<_> = found.into_iter().map(|found| row(found, lang)).collect();
    view! {
        <Console title=words.title.to_owned() here=HERE>
            <h1>{words.title}</h1>
            {form(&typed, lang)}
            {(asked && count == 0).then(|| view! { <p class="empty">{words.none}</p> })}
            {(count > 0).then(|| view! {
                <div class="bar">
                    <p class="facts" role="status">{(words.shown)(count)}</p>
                    <a href=csv download="orders.csv">{words.csv}</a>
                </div>
                <div class="scroll" tabindex="0" role="region" aria-label=words.title>
                    <table>
                        {head(texts)}
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            })}
            <ul class="links">
                {first.map(|first| view! { <li><a href=first>{words.first}</a></li> })}
                {next.map(|next| view! { <li><a href=next rel="next">{words.next}</a></li> })}
            </ul>
        </Console>
    }
    .into_any()
}

fn form(typed: &Typed, lang: Lang) -> impl IntoView + use<> {
    let texts = lang.admin();
    let words = &texts.finder;
    let bad = |field, readable: bool| (!readable).then(|| texts.wrong(field, "bad"));
    let search = [
        bad("phone", read::<domain::Phone>(&typed.phone).is_ok()),
        bad("id", read::<domain::OrderId>(&typed.id).is_ok()),
        bad("voucher", read::<domain::VoucherId>(&typed.voucher).is_ok()),
    ];
    let chosen = typed.state.parse::<OrderState>().ok();
    let states: Vec<_> = STATES
        .into_iter()
        .map(|state| {
            view! { <option value=state.word() selected=chosen == Some(state)>{lang.shop().state(state)}</option> }
        })
        .collect();
    view! {
        <form method="get" action="/admin/orders" class="finder">
            <Field name="phone" label=words.phone value=typed.phone.clone() error=search[0] keyboard="numeric"/>
            <Field name="id" label=words.id value=typed.id.clone() error=search[1] keyboard="numeric"/>
            <div class="field">
                <label for="field-state">{words.state}</label>
                <select id="field-state" name="state"><option value="">{words.any}</option>{states}</select>
            </div>
            <Field name="voucher" label=words.voucher value=typed.voucher.clone() error=search[2] keyboard="numeric"/>
            <button type="submit" class="main">{words.find}</button>
        </form>
    }
}

fn head(texts: &'static Admin) -> impl IntoView {
    let words = &texts.finder;
    view! {
        <thead>
            <tr>
                <th scope="col">{words.id}</th>
                <th scope="col">{words.sale}</th>
                <th scope="col">{words.phone}</th>
                <th scope="col">{words.state}</th>
                <th scope="col">{words.ordered}</th>
            </tr>
        </thead>
    }
}

fn row(found: FoundOrder, lang: Lang) -> impl IntoView {
    let texts = lang.admin();
    let FoundOrder {
        user_id,
        phone,
        order,
    } = found;
    let reason = order
        .reason
        .map(|reason| format!(" ({})", texts.finder.failure(reason)));
    view! {
        <tr>
            <td><code>{order.order_id.to_string()}</code></td>
            <td><a href=format!("/admin/vouchers/{}", order.voucher_id)>{order.title}</a></td>
            <td>{phone} " (" {(texts.account)(user_id.to_string())} ")"</td>
            <td data-state=order.state.word()>
                <span class="badge">{lang.shop().state(order.state)}</span> {reason}
            </td>
            <td>{time(order.ordered_at)}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(phone: &str, before: &str) -> Typed {
        Typed {
            phone: phone.into(),
            id: String::new(),
            state: String::new(),
            voucher: "7".into(),
            before: before.into(),
        }
    }

    #[test]
    fn a_link_keeps_the_search_and_changes_where_it_begins() {
        let typed = typed("13800000000", "90");
        assert_eq!(typed.link("/x", ""), "/x?phone=13800000000&voucher=7");
        assert_eq!(typed.link("/x", "80"), "/x?phone=13800000000&voucher=7&before=80");
    }

    #[test]
    fn what_can_not_be_read_is_no_search() {
        assert!(typed("1380", "").search().is_err());
        assert!(typed("", "").search().is_ok_and(|search| search.phone.is_none()));
    }
}
