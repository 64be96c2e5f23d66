//! The console beyond steering: edits, dead letters, the sum after a sale, looking orders up.

use std::fmt::Write;

use axum::{
    Json,
    extract::{Query, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{SaleEdit, Voucher, VoucherId};
use engine::{DeadLetter, EditError, Engine, FoundOrder, LetterOutcome, OrderSearch, SaleSum};
use serde::{Deserialize, Serialize};

use super::{Body, PathId};
use crate::{auth::Admin, problem::Problem};

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Edited {
    voucher: Voucher,
}

/// Changes what a sale says of itself, and its window. Saving what is there already changes nothing.
#[utoipa::path(put, path = "/api/v1/admin/vouchers/{id}", params(("id" = VoucherId, Path)), request_body = SaleEdit,
    responses((status = 200, body = Edited),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn edit(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<VoucherId>,
    Body(edit): Body<SaleEdit>,
) -> Result<Json<Edited>, Problem> {
    engine.edit(actor, id, edit).await?;
    Ok(Json(Edited {
        voucher: engine.sale(id).await?.ok_or_else(Problem::not_found)?,
    }))
}

impl From<EditError> for Problem {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Invalid(errors) => errors.into(),
            EditError::Steer(error) => error.into(),
            EditError::Engine(error) => error.into(),
        }
    }
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Letters {
    /// Newest first.
    letters: Vec<DeadLetter>,
}

/// What could not be settled.
#[utoipa::path(get, path = "/api/v1/admin/dead", responses((status = 200, body = Letters),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn dead(State(engine): State<Engine>, Admin(_): Admin) -> Result<Json<Letters>, Problem> {
    Ok(Json(Letters {
        letters: engine.dead_letters().await?,
    }))
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Dealt {
    /// `replayed`, `released`, or `was_settled`: the order is in the ledger, there was nothing to release.
    outcome: &'static str,
}

fn dealt(outcome: LetterOutcome) -> Result<Json<Dealt>, Problem> {
    match outcome {
        LetterOutcome::Replayed => Ok(Json(Dealt { outcome: "replayed" })),
        LetterOutcome::Released => Ok(Json(Dealt { outcome: "released" })),
        LetterOutcome::WasSettled => Ok(Json(Dealt {
            outcome: "was_settled",
        })),
        LetterOutcome::Gone => Err(Problem::not_found()),
        LetterOutcome::NoOrder => {
            let words =
                "The letter holds no order that could be read. Release drops it; there is nothing to replay.";
            Err(Problem::new(StatusCode::CONFLICT, "no_order", words))
        }
    }
}

/// Queues a dead letter's order again.
#[utoipa::path(post, path = "/api/v1/admin/dead/{id}/replay", params(("id" = String, Path)), responses(
    (status = 200, body = Dealt),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn replay(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<String>,
) -> Result<Json<Dealt>, Problem> {
    dealt(engine.replay_letter(actor, &id).await?)
}

/// Marks a dead letter's order as failed and gives its unit back; a letter without an order is dropped.
#[utoipa::path(post, path = "/api/v1/admin/dead/{id}/release", params(("id" = String, Path)), responses(
    (status = 200, body = Dealt),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn release(
    State(engine): State<Engine>,
    Admin(actor): Admin,
    PathId(id): PathId<String>,
) -> Result<Json<Dealt>, Problem> {
    match engine.release_letter(actor, &id).await? {
        LetterOutcome::NoOrder => Ok(Json(Dealt { outcome: "released" })),
        outcome => dealt(outcome),
    }
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Format {
    /// `csv` for a table; else JSON.
    format: Option<String>,
}

/// The sum of a sale: published + changed = live orders + left in the ledger.
#[utoipa::path(get, path = "/api/v1/admin/vouchers/{id}/report", params(("id" = VoucherId, Path), Format), responses(
    (status = 200, description = "The sum", content((SaleSum = "application/json"), (String = "text/csv"))),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn report(
    State(engine): State<Engine>,
    Admin(_): Admin,
    PathId(id): PathId<VoucherId>,
    Query(format): Query<Format>,
) -> Result<Response, Problem> {
    let sum = engine.sum(id).await?.ok_or_else(Problem::not_found)?;
    if format.format.as_deref() != Some("csv") {
        return Ok(Json(sum).into_response());
    }
    Ok(csv(&format!("report-{id}.csv"), &report_rows(&sum)))
}

fn report_rows(sum: &SaleSum) -> String {
    let left = sum.redis_stock.map_or_else(String::new, |left| left.to_string());
    format!(
        "voucher_id,published,changed,units,live_orders,failed_orders,ledger_stock,redis_stock,in_flight,drift\n\
         {},{},{},{},{},{},{},{left},{},{}\n",
        sum.voucher_id,
        sum.published,
        sum.changed,
        sum.units,
        sum.live_orders,
        sum.failed_orders,
        sum.ledger_stock,
        sum.in_flight,
        sum.drift
    )
}

#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Search {
    /// The owner's phone.
    phone: Option<String>,
    /// The order's id.
    id: Option<String>,
    /// The order's state.
    state: Option<String>,
    /// What was bought.
    voucher: Option<String>,
    /// Only orders with a lower id: the last one of the page before.
    before: Option<String>,
    /// `csv` for a table; else JSON.
    format: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct Found {
    /// Newest first, a page of 200 at most.
    orders: Vec<FoundOrder>,
}

/// Looks orders up.
#[utoipa::path(get, path = "/api/v1/admin/orders", params(Search), responses(
    (status = 200, description = "Orders that match", content((Found = "application/json"), (String = "text/csv"))),
    (status = "4XX", body = Problem, content_type = "application/problem+json"),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn orders(
    State(engine): State<Engine>,
    Admin(_): Admin,
    Query(search): Query<Search>,
) -> Result<Response, Problem> {
    let csv_wanted = search.format.as_deref() == Some("csv");
    let orders = engine.search_orders(&wanted(&search)?).await?;
    if !csv_wanted {
        return Ok(Json(Found { orders }).into_response());
    }
    let mut rows =
        String::from("order_id,user_id,phone,voucher_id,title,state,reason,ordered_at,updated_at\n");
    for FoundOrder {
        user_id,
        phone,
        order,
    } in orders
    {
        let title = cell(order.title.as_deref().unwrap_or_default());
        let reason = order.reason.map_or("", domain::FailReason::word);
        let updated = order.updated_at.map_or_else(String::new, |at| at.to_string());
        let (id, voucher, state, at) = (
            order.order_id,
            order.voucher_id,
            order.state.word(),
            order.ordered_at,
        );
        // Writing to a String can't fail.
        let _ = writeln!(
            rows,
            "{id},{user_id},{phone},{voucher},{title},{state},{reason},{at},{updated}"
        );
    }
    Ok(csv("orders.csv", &rows))
}

/// Reads the search; an empty field does not narrow it, one that can't be read finds nothing and is refused.
fn wanted(search: &Search) -> Result<OrderSearch, Problem> {
    fn read<T: std::str::FromStr>(text: Option<&String>) -> Result<Option<T>, Problem> {
        let refused = || {
            let words = "One of the search fields can't be read. Check phone, id, state and voucher.";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_search", words)
        };
        match text.map(|text| text.trim()).filter(|text| !text.is_empty()) {
            Some(text) => text.parse().map(Some).map_err(|_| refused()),
            None => Ok(None),
        }
    }
    Ok(OrderSearch {
        phone: read(search.phone.as_ref())?,
        id: read(search.id.as_ref())?,
        state: read(search.state.as_ref())?,
        voucher: read(search.voucher.as_ref())?,
        before: read(search.before.as_ref())?,
    })
}

/// One cell. A text that a spreadsheet would run as a formula is disarmed with a leading apostrophe.
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

fn csv(name: &str, rows: &str) -> Response {
    let kind = "text/csv; charset=utf-8".to_owned();
    let attachment = format!("attachment; filename=\"{name}\"");
    (
        [
            (header::CONTENT_TYPE, kind),
            (header::CONTENT_DISPOSITION, attachment),
        ],
        rows.to_owned(),
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_can_not_break_out_of_its_cell_or_run_as_a_formula() {
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(cell("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
    }
}
