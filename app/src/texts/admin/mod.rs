//! The words of the operators' pages.

/// The words of the operators' pages in one language.
#[derive(Debug)]
pub struct Admin {
    /// Heading of the list.
    pub sales: &'static str,
    /// Nothing there.
    pub none: &'static str,
    /// Link and heading of the form.
    pub new: &'static str,
    /// Only operators may see this.
    pub forbidden: &'static str,
    /// Below it.
    pub forbidden_lead: &'static str,
    /// Column.
    pub title: &'static str,
    /// Column.
    pub state: &'static str,
    /// Column: published.
    pub units: &'static str,
    /// Column: live orders.
    pub sold: &'static str,
    /// Column: left in Redis.
    pub left: &'static str,
    /// Column: claimed, not yet in the ledger.
    pub in_flight: &'static str,
    /// Column: nowhere.
    pub drift: &'static str,
    /// Column: failed.
    pub failed: &'static str,
    /// Field.
    pub sub_title: &'static str,
    /// Field.
    pub rules: &'static str,
    /// Field.
    pub pay_value: &'static str,
    /// Field.
    pub actual_value: &'static str,
    /// Field.
    pub stock: &'static str,
    /// Field.
    pub begins_at: &'static str,
    /// Field.
    pub ends_at: &'static str,
    /// Below the begin.
    pub begins_hint: &'static str,
    /// Below money.
    pub money_hint: &'static str,
    /// The zone of the times.
    pub utc: &'static str,
    /// The form's button.
    pub publish: &'static str,
    /// Above a form with mistakes.
    pub look_again: &'static str,
    /// Button.
    pub pause: &'static str,
    /// Button.
    pub resume: &'static str,
    /// Button.
    pub end: &'static str,
    /// Below the button.
    pub end_hint: &'static str,
    /// Heading.
    pub steer: &'static str,
    /// Heading.
    pub restock: &'static str,
    /// Field.
    pub delta: &'static str,
    /// Field.
    pub reason: &'static str,
    /// Button.
    pub change: &'static str,
    /// Heading.
    pub audit: &'static str,
    /// The system itself.
    pub system: &'static str,
    /// Who did it.
    pub account: fn(String) -> String,
    /// The shopper's page.
    pub shop_page: &'static str,
    /// Redis does not hold it.
    pub not_loaded: &'static str,
    states: [&'static str; 4],
    told: [(&'static str, &'static str); 7],
    wrong: [(&'static str, &'static str); 12],
}

impl Admin {
    /// A sale's state.
    pub const fn state_of(&self, state: domain::SaleState) -> &'static str {
        self.states[state as usize]
    }

    /// What became of the last form.
    pub fn told(&self, word: &str) -> Option<&'static str> {
        self.told
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, text)| *text)
    }

    /// What a field's code means.
    pub fn wrong(&self, field: &str, code: &str) -> &'static str {
        let told = |key: &str| {
            self.wrong
                .iter()
                .find(|(known, _)| *known == key)
                .map(|(_, text)| *text)
        };
        told(&format!("{field}.{code}"))
            .or_else(|| told(code))
            .unwrap_or(self.look_again)
    }

    /// English.
    pub const EN: Self = Self {
        sales: "All sales",
        none: "No sales yet.",
        new: "New sale",
        forbidden: "For operators only",
        forbidden_lead: "This account may not steer sales.",
        title: "Title",
        state: "State",
        units: "Units",
        sold: "Orders",
        left: "Left",
        in_flight: "On their way",
        drift: "Drift",
        failed: "Failed",
        sub_title: "Subtitle (optional)",
        rules: "Terms (optional)",
        pay_value: "Price in ¥",
        actual_value: "Worth in ¥",
        stock: "Units",
        begins_at: "Begins",
        ends_at: "Ends",
        begins_hint: "A time in the past opens the sale at once.",
        money_hint: "For example 47.50",
        utc: "UTC",
        publish: "Publish the sale",
        look_again: "Something needs another look.",
        pause: "Pause",
        resume: "Resume",
        end: "End for good",
        end_hint: "An ended sale can't be opened again.",
        steer: "Steer",
        restock: "Change the stock",
        delta: "Units, plus or minus",
        reason: "Reason",
        change: "Change",
        audit: "History",
        system: "system",
        account: |id| format!("account {id}"),
        shop_page: "See it as shoppers do",
        not_loaded: "Saved, but not loaded into Redis yet. It is loaded by itself as soon as Redis answers.",
        states: ["Scheduled", "Live", "Paused", "Ended"],
        told: [
            ("published", "Published."),
            ("done", "Done."),
            ("unknown", "There is no such sale."),
            ("ended", "The sale has ended for good; nothing was changed."),
            (
                "not_loaded",
                "The sale is being loaded; try again in a few seconds.",
            ),
            ("too_few_left", "Fewer units are left than you want to take."),
            (
                "trouble",
                "A store did not answer. Look at the state below, then try again.",
            ),
        ],
        wrong: [
            ("title.required", "Give the sale a title."),
            ("reason.required", "Say why the stock changes."),
            ("too_long", "That is too long."),
            ("bad_text", "Plain text, please, without control characters."),
            ("not_money", "An amount like 47.50."),
            ("not_a_number", "A whole number."),
            ("not_a_time", "A day and a time."),
            ("stock.out_of_range", "From 1 to 10,000,000 units."),
            ("delta.out_of_range", "From -10,000,000 to 10,000,000, and not 0."),
            ("out_of_range", "From 0.01 to 21,474,836.47."),
            ("before_begin", "A sale ends after it begins."),
            ("in_the_past", "A sale ends in the future."),
        ],
    };

    /// Simplified Chinese.
    pub const ZH: Self = Self {
        sales: "全部活动",
        none: "暂无活动。",
        new: "新建活动",
        forbidden: "仅限管理员",
        forbidden_lead: "此账号无权管理活动。",
        title: "标题",
        state: "状态",
        units: "总量",
        sold: "订单",
        left: "剩余",
        in_flight: "处理中",
        drift: "偏差",
        failed: "失败",
        sub_title: "副标题（可选）",
        rules: "使用规则（可选）",
        pay_value: "抢购价（元）",
        actual_value: "原价（元）",
        stock: "数量",
        begins_at: "开始时间",
        ends_at: "结束时间",
        begins_hint: "填写过去的时间则立即开抢。",
        money_hint: "例如 47.50",
        utc: "UTC",
        publish: "发布活动",
        look_again: "有内容需要修改。",
        pause: "暂停",
        resume: "恢复",
        end: "永久结束",
        end_hint: "结束后无法再次开启。",
        steer: "控制",
        restock: "调整库存",
        delta: "数量（可为负）",
        reason: "原因",
        change: "调整",
        audit: "操作记录",
        system: "系统",
        account: |id| format!("账号 {id}"),
        shop_page: "查看顾客页面",
        not_loaded: "已保存，但尚未载入 Redis；Redis 恢复后会自动载入。",
        states: ["未开始", "进行中", "已暂停", "已结束"],
        told: [
            ("published", "已发布。"),
            ("done", "已完成。"),
            ("unknown", "该活动不存在。"),
            ("ended", "活动已永久结束，未作更改。"),
            ("not_loaded", "活动正在载入，请几秒后再试。"),
            ("too_few_left", "剩余数量不足。"),
            ("trouble", "存储未响应，请查看下方状态后重试。"),
        ],
        wrong: [
            ("title.required", "请填写标题。"),
            ("reason.required", "请填写调整原因。"),
            ("too_long", "内容过长。"),
            ("bad_text", "请使用纯文本，不含控制字符。"),
            ("not_money", "请填写金额，例如 47.50。"),
            ("not_a_number", "请填写整数。"),
            ("not_a_time", "请填写日期和时间。"),
            ("stock.out_of_range", "数量应在 1 到 10,000,000 之间。"),
            (
                "delta.out_of_range",
                "应在 -10,000,000 到 10,000,000 之间且不为 0。",
            ),
            ("out_of_range", "应在 0.01 到 21,474,836.47 之间。"),
            ("before_begin", "结束时间应晚于开始时间。"),
            ("in_the_past", "结束时间应在将来。"),
        ],
    };
}
