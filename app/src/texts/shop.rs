//! The words of the islands: what a shopper reads while something changes.

use domain::{FailReason, OrderState};

use crate::model::{Note, OrderProps, Phase};

/// The words of the islands in one language.
#[derive(Debug)]
pub struct Shop {
    /// Above the countdown to the opening.
    pub opens_in: &'static str,
    /// Above the countdown to the end.
    pub ends_in: &'static str,
    /// Above the countdown when nothing is counted.
    pub time_is_up: &'static str,
    /// Between days and hours.
    pub day: &'static str,
    /// The button, when it can be pressed.
    pub grab: &'static str,
    /// The button, for a stranger.
    pub log_in_to_grab: &'static str,
    /// The button, while the answer is awaited.
    pub grabbing: &'static str,
    /// The button, before the opening.
    pub not_yet: &'static str,
    /// The button, when nothing is left.
    pub sold_out: &'static str,
    /// The button, when nothing is left for now.
    pub all_held: &'static str,
    /// The button, when an operator has paused.
    pub paused: &'static str,
    /// The button, when it is over.
    pub ended: &'static str,
    /// The button, while the sale is loaded.
    pub not_ready: &'static str,
    /// The button, when an order is there.
    pub yours: &'static str,
    /// Before an order's id.
    pub order: &'static str,
    /// The link to the order.
    pub to_order: &'static str,
    /// The link to all orders.
    pub to_orders: &'static str,
    /// The link to the login.
    pub to_login: &'static str,
    /// An order that the server knows no more.
    pub gone: &'static str,
    /// The first step of an order.
    pub accepted: &'static str,
    /// The last step of an order.
    pub to_use: &'static str,
    /// Before what to do next.
    pub what_next: &'static str,
    phases: [&'static str; 8],
    notes: [&'static str; 11],
    states: [(&'static str, &'static str); 8],
    failures: [&'static str; 3],
    nexts: [&'static str; 4],
    left: fn(i64) -> String,
    about_left: fn(i64) -> String,
    slow_down: fn(u64) -> String,
    badges: [&'static str; 8],
}

/// From here on, what is left is shown in round numbers.
const COARSE_FROM: i64 = 100;

impl Shop {
    /// What the sale is now, and the next step.
    pub const fn phase(&self, phase: Phase) -> &'static str {
        self.phases[phase as usize]
    }

    /// What the sale is now, in a word or two.
    pub const fn badge(&self, phase: Phase) -> &'static str {
        self.badges[phase as usize]
    }

    /// The button's words in a phase.
    pub const fn button(&self, phase: Phase, signed_in: bool) -> &'static str {
        match phase {
            Phase::Scheduled | Phase::Opening => self.not_yet,
            Phase::Open if signed_in => self.grab,
            Phase::Open => self.log_in_to_grab,
            Phase::SoldOut => self.sold_out,
            Phase::AllHeld => self.all_held,
            Phase::Paused => self.paused,
            Phase::Ended => self.ended,
            Phase::NotReady => self.not_ready,
        }
    }

    /// Why the last attempt gave nothing, and the next step.
    pub fn note(&self, note: Note) -> String {
        let at = match note {
            Note::SlowDown(seconds) => return (self.slow_down)(seconds.max(1)),
            Note::SoldOut => 0,
            Note::NotStarted => 1,
            Note::Ended => 2,
            Note::Paused => 3,
            Note::NotReady => 4,
            Note::Busy => 5,
            Note::Unknown => 6,
            Note::SignIn => 7,
            Note::Lost => 8,
            Note::Trouble => 9,
            Note::Gone => 10,
        };
        self.notes[at].to_owned()
    }

    /// An order's state in a word.
    pub const fn state(&self, state: OrderState) -> &'static str {
        self.states[state as usize].0
    }

    /// What the owner of an order does next.
    pub const fn next(&self, state: OrderState, gone: bool) -> &'static str {
        self.nexts[match state {
            _ if gone => 3,
            OrderState::Queued => 0,
            OrderState::Confirmed | OrderState::Paid => 1,
            OrderState::Used | OrderState::Refunded => 2,
            OrderState::Failed | OrderState::Cancelled | OrderState::Expired => 3,
        }]
    }

    /// What an order's state means for its owner.
    pub const fn meaning(&self, order: OrderProps) -> &'static str {
        match (order.state, order.reason) {
            (OrderState::Failed, Some(FailReason::Duplicate)) => self.failures[0],
            (OrderState::Failed, Some(FailReason::NoStock)) => self.failures[1],
            (OrderState::Failed, Some(FailReason::Rejected)) => self.failures[2],
            (state, _) => self.states[state as usize].1,
        }
    }

    /// What is left: exact when it is little, round when it is much, because it changes faster than one reads.
    pub fn left(&self, units: i64) -> String {
        if units < COARSE_FROM {
            (self.left)(units.max(0))
        } else {
            let step = if units < 1000 { 10 } else { 100 };
            (self.about_left)(units / step * step)
        }
    }

    /// English.
    pub const EN: Self = Self {
        opens_in: "Opens in",
        ends_in: "Ends in",
        time_is_up: "Closed",
        day: "d",
        grab: "Grab it now",
        log_in_to_grab: "Log in and grab it",
        grabbing: "Asking for yours…",
        not_yet: "Not open yet",
        sold_out: "Sold out",
        all_held: "All held",
        paused: "Paused",
        ended: "Sale ended",
        not_ready: "Getting ready…",
        yours: "You have one",
        order: "Order",
        to_order: "See the order",
        to_orders: "See my orders",
        to_login: "Log in again",
        gone: "Lost",
        accepted: "Place taken",
        to_use: "Use it",
        what_next: "What next?",
        phases: [
            "The button opens by itself at the second. No need to reload.",
            "Opening in a moment. Get ready.",
            "Open now. One per person.",
            "Every unit is sold. Should one come back, this page tells at once.",
            "All units are held while their orders are confirmed. Some may come back: stay on this page.",
            "The shop has paused this sale for now. It goes on here without a reload.",
            "This sale is over. Have a look at the others.",
            "The sale is being loaded. It takes a few seconds.",
        ],
        notes: [
            "Sold out: somebody was faster. Some may come back, this page tells at once.",
            "It was a moment too early. Press again when the countdown is at zero.",
            "The sale is over. Nothing was taken.",
            "The shop has paused the sale. Nothing was taken; try again when it goes on.",
            "The sale is being loaded. Nothing was taken; try again in a few seconds.",
            "Too many at once. Press again: you never get two.",
            "There is no such sale.",
            "Your session has ended. Log in, and you are back here.",
            "No answer arrived. Press again: if one is yours already, you keep it and get no second.",
            "Something broke on our side. Press again: you never get two.",
            "A fault on our side has lost your place. Nothing was taken from you; please try again.",
        ],
        states: [
            (
                "Confirming…",
                "Your place is safe. We are confirming your order; this takes a moment.",
            ),
            ("Confirmed", "Confirmed. The voucher is yours."),
            ("Paid", "Paid. The voucher can be used."),
            ("Used", "Used. Enjoy."),
            (
                "Failed",
                "The order could not be completed. Nothing was taken from you.",
            ),
            ("Cancelled", "You gave this order up."),
            ("Expired", "It was not paid in time, and the unit went back."),
            ("Refunded", "Paid back."),
        ],
        failures: [
            "You had this voucher already, so this one went back. Nothing was taken from you.",
            "No unit was left in the end. Nothing was taken from you.",
            "The order was refused. Nothing was taken from you.",
        ],
        nexts: [
            "Nothing: this page tells by itself. You may close it, your place stays.",
            "Show the order number when you use the voucher.",
            "Nothing more.",
            "See whether a unit is left, and try again.",
        ],
        left: |units| format!("{units} left"),
        about_left: |units| format!("about {} left", grouped(units)),
        slow_down: |seconds| format!("Too many attempts. Wait {seconds} s, then press again."),
        badges: [
            "Soon", "Opening", "Open", "Sold out", "All held", "Paused", "Ended", "Loading",
        ],
    };

    /// Simplified Chinese.
    pub const ZH: Self = Self {
        opens_in: "距开抢",
        ends_in: "距结束",
        time_is_up: "已结束",
        day: "天",
        grab: "立即抢购",
        log_in_to_grab: "登录后抢购",
        grabbing: "正在抢购…",
        not_yet: "尚未开抢",
        sold_out: "已抢光",
        all_held: "名额确认中",
        paused: "已暂停",
        ended: "活动已结束",
        not_ready: "准备中…",
        yours: "您已抢到",
        order: "订单号",
        to_order: "查看订单",
        to_orders: "查看我的订单",
        to_login: "重新登录",
        gone: "已丢失",
        accepted: "名额已锁定",
        to_use: "使用",
        what_next: "下一步：",
        phases: [
            "到点后按钮自动可用，无需刷新页面。",
            "马上开抢，请做好准备。",
            "正在抢购中，每人限购一张。",
            "已全部售出。如有退回，本页会立即显示。",
            "名额已全部锁定，订单确认中。可能有名额退回，请留在本页。",
            "活动暂停中，恢复后本页会自动更新。",
            "活动已结束，看看其他优惠吧。",
            "活动正在加载，请稍候几秒。",
        ],
        notes: [
            "已抢光，有人快了一步。如有退回，本页会立即显示。",
            "早了一点点，倒计时归零后请再试一次。",
            "活动已结束，未扣除任何费用。",
            "活动已暂停，未扣除任何费用，恢复后请再试。",
            "活动正在加载，未扣除任何费用，请几秒后再试。",
            "抢购人数过多，请再试一次，绝不会重复下单。",
            "该活动不存在。",
            "登录已过期，登录后会回到本页。",
            "未收到回复，请再试一次；若已抢到则为您保留，不会重复下单。",
            "系统出了点问题，请再试一次，绝不会重复下单。",
            "因系统故障，您的名额已丢失，未扣除任何费用，请再试一次。",
        ],
        states: [
            ("确认中…", "名额已为您保留，正在确认订单，请稍候。"),
            ("已确认", "已确认，优惠券归您了。"),
            ("已支付", "已支付，可以使用。"),
            ("已使用", "已使用，祝您愉快。"),
            ("失败", "订单未能完成，未扣除任何费用。"),
            ("已取消", "您已取消该订单。"),
            ("已过期", "未在规定时间内支付，名额已退回。"),
            ("已退款", "已退款。"),
        ],
        failures: [
            "您已拥有此优惠券，本次名额已退回，未扣除任何费用。",
            "最终没有库存，未扣除任何费用。",
            "订单被拒绝，未扣除任何费用。",
        ],
        nexts: [
            "无需操作，本页会自动更新；关闭页面也会保留名额。",
            "使用优惠券时请出示订单号。",
            "无需操作。",
            "看看是否还有剩余，再试一次。",
        ],
        left: |units| format!("仅剩 {units} 张"),
        about_left: |units| format!("约剩 {} 张", grouped(units)),
        slow_down: |seconds| format!("操作过于频繁，请等待 {seconds} 秒后再试。"),
        badges: [
            "即将开抢",
            "马上开抢",
            "抢购中",
            "已抢光",
            "确认中",
            "已暂停",
            "已结束",
            "加载中",
        ],
    };
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_exact_and_much_is_round() {
        assert_eq!(Shop::EN.left(99), "99 left");
        assert_eq!(Shop::EN.left(987), "about 980 left");
        assert_eq!(Shop::EN.left(1_234_567), "about 1,234,500 left");
        assert_eq!(grouped(-1234), "-1,234");
        assert_eq!(grouped(123), "123");
    }

    #[test]
    fn queued_is_never_called_a_success() {
        let queued = Shop::EN.state(OrderState::Queued).to_lowercase();
        assert!(!queued.contains("confirmed"));
        assert_eq!(Shop::EN.state(OrderState::Refunded), "Refunded");
        assert_eq!(Shop::ZH.phase(Phase::NotReady), "活动正在加载，请稍候几秒。");
    }
}
