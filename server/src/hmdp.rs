//! The seckill endpoints of the 黑马点评 teaching project, unchanged for its clients: paths, header and body.

use axum::{
    Json, Router,
    extract::{FromRequestParts, Path, Query, State},
    http::{HeaderMap, StatusCode, request::Parts},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use domain::{GrabOutcome, SaleDraft, UserId, Voucher, VoucherId};
use engine::{CodeSent, Engine, LogInError, PublishError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    auth::{self, SharedSite},
    problem::Problem,
    rest::Body,
    state::AppState,
};

/// All of `/hmdp` but the grab.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .route("/hmdp/user/code", post(code))
        .route("/hmdp/user/login", post(log_in))
        .route("/hmdp/user/me", get(me))
        .route("/hmdp/voucher/seckill", post(create))
        .route("/hmdp/voucher/list/{shop}", get(list))
}

/// Its grab, for the hot router.
pub(crate) fn grab() -> Router<AppState> {
    Router::new().route("/hmdp/voucher-order/seckill/{id}", post(take))
}

/// The body of every answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_msg: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
}

fn ok(data: Option<Value>) -> Response {
    Json(Answer {
        success: true,
        error_msg: None,
        data,
        total: None,
    })
    .into_response()
}

pub(crate) fn fail(text: &'static str) -> Response {
    Json(Answer {
        success: false,
        error_msg: Some(text),
        data: None,
        total: None,
    })
    .into_response()
}

/// A failure of ours: its clients show the text and keep the page.
fn broken(problem: impl Into<Problem>) -> Response {
    let _logged: Problem = problem.into();
    fail("服务器繁忙，请稍后重试")
}

/// Whoever sent a good token. A stranger gets a bare 401, as its interceptor gives.
struct Member(UserId);

impl FromRequestParts<AppState> for Member {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        let stranger = || StatusCode::UNAUTHORIZED.into_response();
        let token = auth::hmdp_token(&parts.headers).ok_or_else(stranger)?;
        let user = state.engine.session(token).await.map_err(broken)?;
        user.map(Self).ok_or_else(stranger)
    }
}

#[derive(Deserialize)]
struct CodeQuery {
    phone: String,
}

async fn code(
    State(engine): State<Engine>,
    State(site): State<SharedSite>,
    Query(query): Query<CodeQuery>,
) -> Response {
    let Ok(phone) = query.phone.parse() else {
        return fail("手机号格式错误！");
    };
    match engine.send_code(&phone).await {
        // Its page has no place for the code; in demo mode a client may read it here.
        Ok(CodeSent::Sent { code }) => ok(site.demo.then(|| json!(code))),
        Ok(CodeSent::Wait(_)) => fail("验证码已发送，请稍后再试"),
        Err(error) => broken(error),
    }
}

#[derive(Deserialize)]
struct LogInForm {
    phone: String,
    code: String,
}

async fn log_in(State(engine): State<Engine>, headers: HeaderMap, Body(form): Body<LogInForm>) -> Response {
    let Ok(phone) = form.phone.parse() else {
        return fail("手机号格式错误！");
    };
    match engine.log_in(&phone, &form.code).await {
        Ok(session) => {
            // A login rotates here, too. The new session stands even if the old one could not be ended.
            if let Some(old) = auth::hmdp_token(&headers)
                && let Err(error) = engine.log_out(old).await
            {
                tracing::warn!(%error, "the session before a login goes on until it runs out");
            }
            ok(Some(json!(session.token.secret())))
        }
        Err(LogInError::WrongCode) => fail("验证码错误"),
        Err(LogInError::Engine(error)) => broken(error),
    }
}

async fn me(State(engine): State<Engine>, Member(user): Member) -> Response {
    match engine.account(user).await {
        Ok(Some(account)) => ok(Some(
            json!({"id": account.id, "nickName": account.phone, "icon": ""}),
        )),
        Ok(None) => StatusCode::UNAUTHORIZED.into_response(),
        Err(error) => broken(error),
    }
}

/// Its voucher: money in cents, local times without a zone, which we read as UTC.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VoucherForm {
    #[serde(default = "first_shop")]
    shop_id: i64,
    title: String,
    #[serde(default)]
    sub_title: String,
    #[serde(default)]
    rules: String,
    pay_value: i64,
    actual_value: i64,
    stock: i64,
    begin_time: String,
    end_time: String,
}

const fn first_shop() -> i64 {
    1
}

/// `2026-11-30T20:00:00`, as its form sends it, or any RFC 3339 time.
fn moment(text: &str) -> Option<domain::Timestamp> {
    text.parse().ok().or_else(|| format!("{text}Z").parse().ok())
}

async fn create(
    State(state): State<AppState>,
    Member(user): Member,
    Body(form): Body<VoucherForm>,
) -> Response {
    if let Err(problem) = auth::admin(&state, user).await {
        return problem.into_response();
    }
    let (Some(begins_at), Some(ends_at), 1..) =
        (moment(&form.begin_time), moment(&form.end_time), form.shop_id)
    else {
        return fail("参数错误");
    };
    let draft = SaleDraft {
        title: form.title,
        sub_title: form.sub_title,
        rules: form.rules,
        pay_value: form.pay_value,
        actual_value: form.actual_value,
        stock: form.stock,
        begins_at,
        ends_at,
    };
    match state.engine.publish(Some(user), form.shop_id, draft).await {
        Ok(voucher) => ok(Some(json!(voucher.id))),
        Err(PublishError::Invalid(_)) => fail("参数错误"),
        Err(PublishError::Engine(error)) => broken(error),
    }
}

fn voucher(voucher: &Voucher) -> Value {
    json!({
        "id": voucher.id,
        "title": voucher.title,
        "subTitle": voucher.sub_title,
        "rules": voucher.rules,
        "payValue": voucher.pay_value,
        "actualValue": voucher.actual_value,
        "type": 1,
        "stock": voucher.stock,
        "beginTime": voucher.begins_at,
        "endTime": voucher.ends_at,
    })
}

async fn list(State(engine): State<Engine>, Path(shop): Path<String>) -> Response {
    let Ok(shop) = shop.parse() else {
        return fail("店铺不存在");
    };
    match engine.vouchers_of_shop(shop).await {
        Ok(vouchers) => ok(Some(vouchers.iter().map(voucher).collect())),
        Err(error) => broken(error),
    }
}

async fn take(State(engine): State<Engine>, Member(user): Member, Path(id): Path<String>) -> Response {
    let Ok(id) = id.parse::<VoucherId>() else {
        return fail("优惠券不存在");
    };
    match engine.grab(user, id).await {
        // A string: its page shows a rounded number otherwise (R46).
        Ok(GrabOutcome::Queued { order_id }) => ok(Some(json!(order_id))),
        Ok(GrabOutcome::AlreadyOrdered { .. }) => fail("不能重复下单"),
        Ok(GrabOutcome::SoldOut) => fail("库存不足"),
        Ok(GrabOutcome::NotStarted) => fail("秒杀尚未开始！"),
        Ok(GrabOutcome::Ended) => fail("秒杀已经结束！"),
        Ok(GrabOutcome::Paused) => fail("秒杀已暂停"),
        Ok(GrabOutcome::RateLimited { .. }) => fail("操作过于频繁，请稍后重试"),
        Ok(GrabOutcome::NotReady | GrabOutcome::Busy) => fail("服务器繁忙，请稍后重试"),
        Ok(GrabOutcome::UnknownVoucher) => fail("优惠券不存在"),
        Err(error) => broken(error),
    }
}
