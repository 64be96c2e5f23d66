//! A new sale.

use std::collections::BTreeMap;

use domain::VoucherId;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::{super::Refusal, DraftForm};

/// All sales of these pages belong to one shop.
#[cfg(feature = "ssr")]
const SHOP: i64 = 1;

/// What became of a new sale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Created {
    /// It is published.
    Published(VoucherId),
    /// It is kept as a draft.
    Drafted(VoucherId),
    /// What is wrong, as codes by field; nothing was written.
    Invalid(BTreeMap<String, String>),
}

/// Creates a sale that opens at its time, or keeps it as a draft.
#[server(name = CreateSale, prefix = "/api/fn", endpoint = "create_sale")]
pub async fn create_sale(
    /// The form.
    #[server(default)]
    draft: DraftForm,
    /// `yes`: it is not published yet.
    #[server(default)]
    as_draft: String,
) -> Result<Created, Refusal> {
    use super::{
        super::reply::{failed, operator, see},
        reading::{codes, read_draft, rejected},
    };
    use engine::PublishError;

    const PAGE: &str = "/admin/vouchers/new";
    let (context, user) = operator(PAGE).await?;
    let invalid = |wrong: BTreeMap<String, String>| {
        see(&rejected(PAGE, &draft, &wrong));
        Ok(Created::Invalid(wrong))
    };
    let sale = match read_draft(&draft, context.engine.now()) {
        Ok(sale) => sale,
        Err(wrong) => return invalid(wrong),
    };
    let created = if as_draft == "yes" {
        let drafted = context.engine.draft(user, SHOP, sale).await;
        drafted.map(|id| (Created::Drafted(id), id, "drafted"))
    } else {
        let published = context.engine.publish(Some(user), SHOP, sale).await;
        published.map(|voucher| (Created::Published(voucher.id), voucher.id, "published"))
    };
    match created {
        Ok((created, id, told)) => {
            see(&format!("/admin/vouchers/{id}?told={told}"));
            Ok(created)
        }
        Err(PublishError::Invalid(errors)) => invalid(codes(&errors)),
        Err(PublishError::Engine(error)) => {
            let trouble = BTreeMap::from([("form".to_owned(), "trouble".to_owned())]);
            see(&rejected(PAGE, &draft, &trouble));
            Err(failed(&error))
        }
    }
}
