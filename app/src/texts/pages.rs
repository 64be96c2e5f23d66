//! The words of the pages around the islands.

/// The words of the shop's pages in one language.
#[derive(Debug)]
pub struct Pages {
    /// The shop's name.
    pub name: &'static str,
    /// Below the name.
    pub slogan: &'static str,
    /// The link for keyboards past the header.
    pub skip: &'static str,
    /// The list of sales.
    pub sales: &'static str,
    /// My orders.
    pub orders: &'static str,
    /// The operators' pages.
    pub admin: &'static str,
    /// The login.
    pub log_in: &'static str,
    /// The logout.
    pub log_out: &'static str,
    /// No sale at all.
    pub no_sales: &'static str,
    /// A group of sales.
    pub open_now: &'static str,
    /// A group of sales.
    pub coming: &'static str,
    /// A group of sales.
    pub over: &'static str,
    /// The price's label for those who can't see that it is large.
    pub price: &'static str,
    /// The value's label, likewise.
    pub worth: &'static str,
    /// How much is saved.
    pub saving: fn(i64) -> String,
    /// How many were published.
    pub of_all: fn(String) -> String,
    /// Label of the opening instant.
    pub opens: &'static str,
    /// Label of the end.
    pub ends: &'static str,
    /// Heading of the rules.
    pub rules: &'static str,
    /// Heading of the times.
    pub times: &'static str,
    /// One per person.
    pub one_each: &'static str,
    /// For those without scripts, before the opening.
    pub reloads: &'static str,
    /// The way back to the list.
    pub all_sales: &'static str,
    /// No order at all.
    pub no_orders: &'static str,
    /// When an order was made.
    pub ordered: &'static str,
    /// An order whose sale is not known here.
    pub unnamed: &'static str,
    /// The login's first heading.
    pub log_in_lead: &'static str,
    /// Label of the phone number.
    pub phone: &'static str,
    /// Below it.
    pub phone_hint: &'static str,
    /// The first button.
    pub send_code: &'static str,
    /// The first button, again.
    pub send_again: &'static str,
    /// Label of the code.
    pub code: &'static str,
    /// Demo mode's code.
    pub demo_code: fn(&str) -> String,
    /// Already logged in.
    pub logged_in: &'static str,
    /// Titles of error pages.
    pub missing: &'static str,
    /// Below it.
    pub missing_lead: &'static str,
    /// Title.
    pub broken: &'static str,
    /// Below it.
    pub broken_lead: &'static str,
    /// When the browser's half of the page can't be loaded.
    pub stale: &'static str,
    /// The stream of news is lost.
    pub reconnecting: &'static str,
    /// In the footer.
    pub footer: &'static str,
    /// A code was sent moments ago: seconds to wait.
    pub wait: fn(u64) -> String,
    /// The page of one order.
    pub order: &'static str,
    /// Title for an order that is not there.
    pub no_order: &'static str,
    /// Below it.
    pub no_order_lead: &'static str,
    /// The order's voucher.
    pub to_voucher: &'static str,
    /// The way back to the orders.
    pub all_orders: &'static str,
    /// The link to the calendar's file.
    pub calendar: &'static str,
    /// The link to the same address.
    pub reload: &'static str,
    told: [(&'static str, &'static str); 4],
}

impl Pages {
    /// What became of the last attempt at the login.
    pub fn told(&self, word: &str) -> Option<&'static str> {
        let told = self.told.iter().find(|(known, _)| *known == word);
        told.map(|(_, text)| *text)
    }

    /// English.
    pub const EN: Self = Self {
        name: "Flash Sale",
        slogan: "Right to the second. One each. Fair.",
        skip: "Skip to the content",
        sales: "Sales",
        orders: "My orders",
        admin: "Admin",
        log_in: "Log in",
        log_out: "Log out",
        no_sales: "No sales yet. Come back soon.",
        open_now: "Open now",
        coming: "Coming up",
        over: "Over",
        price: "Price",
        worth: "Worth",
        saving: |percent| format!("Save {percent}%"),
        of_all: |units| format!("{units} in this sale"),
        opens: "Opens",
        ends: "Ends",
        rules: "Terms",
        times: "Times",
        one_each: "One per person.",
        reloads: "Your browser runs no scripts: this page reloads by itself, and the button works all the same.",
        all_sales: "All sales",
        no_orders: "No orders yet.",
        ordered: "Ordered",
        unnamed: "Voucher",
        log_in_lead: "Log in with your phone",
        phone: "Phone number",
        phone_hint: "Eleven digits, like 13800000000",
        send_code: "Send me a code",
        send_again: "Send another code",
        code: "Code",
        demo_code: |code| format!("Demo: your code is {code}"),
        logged_in: "You are logged in.",
        missing: "Not found",
        missing_lead: "There is nothing at this address. The sale may have gone.",
        broken: "A moment, please",
        broken_lead: "We can't show this right now. Your orders are safe; please reload in a few seconds.",
        reconnecting: "Connection lost. Reconnecting; the numbers may be a little old.",
        stale: "There is a newer version of this page. Load it when you like; nothing is lost.",
        wait: |seconds| {
            format!("A code was sent moments ago. Use that one, or ask for another in {seconds} s.")
        },
        order: "Order",
        no_order: "No such order",
        no_order_lead: "We know no order of yours with this number. Should it have been accepted a moment ago, a fault on our side has lost it: nothing was taken from you, and you can try again.",
        to_voucher: "To the voucher",
        all_orders: "All my orders",
        calendar: "Add to calendar",
        reload: "Reload",
        footer: "Every order is confirmed in our ledger before we call it yours.",
        told: [
            (
                "bad_phone",
                "That is no phone number: it has eleven digits and begins with 1.",
            ),
            ("sent", "We have sent a code to your phone."),
            (
                "wrong_code",
                "That code is not right, or too old. Try again, or ask for another.",
            ),
            ("trouble", "Something broke on our side. Please try again."),
        ],
    };

    /// Simplified Chinese.
    pub const ZH: Self = Self {
        name: "限时秒杀",
        slogan: "准点开抢，每人一张，公平公正。",
        skip: "跳到正文",
        sales: "活动",
        orders: "我的订单",
        admin: "管理",
        log_in: "登录",
        log_out: "退出登录",
        no_sales: "暂无活动，敬请期待。",
        open_now: "正在抢购",
        coming: "即将开抢",
        over: "已结束",
        price: "抢购价",
        worth: "原价",
        saving: |percent| format!("立省 {percent}%"),
        of_all: |units| format!("本场共 {units} 张"),
        opens: "开抢时间",
        ends: "结束时间",
        rules: "使用规则",
        times: "活动时间",
        one_each: "每人限购一张。",
        reloads: "您的浏览器未启用脚本：本页会自动刷新，按钮同样可用。",
        all_sales: "全部活动",
        no_orders: "还没有订单。",
        ordered: "下单时间",
        unnamed: "优惠券",
        log_in_lead: "手机号登录",
        phone: "手机号",
        phone_hint: "11 位数字，例如 13800000000",
        send_code: "发送验证码",
        send_again: "重新发送验证码",
        code: "验证码",
        demo_code: |code| format!("演示模式：您的验证码是 {code}"),
        logged_in: "您已登录。",
        missing: "页面不存在",
        missing_lead: "此地址没有内容，活动可能已下架。",
        broken: "请稍候",
        broken_lead: "暂时无法显示，您的订单是安全的，请几秒后刷新。",
        reconnecting: "连接已断开，正在重连，数字可能稍有延迟。",
        stale: "本页已有新版本，可随时刷新，不会丢失任何内容。",
        wait: |seconds| format!("刚刚已发送过验证码，请使用该验证码，或 {seconds} 秒后重新获取。"),
        order: "订单",
        no_order: "没有此订单",
        no_order_lead: "您没有此编号的订单。如果刚刚提示抢购成功，则是系统故障导致丢失：未扣除任何费用，您可以再试一次。",
        to_voucher: "查看优惠券",
        all_orders: "全部订单",
        calendar: "添加到日历",
        reload: "刷新",
        footer: "每一笔订单都在账本中确认后才算您的。",
        told: [
            ("bad_phone", "手机号不正确：应为以 1 开头的 11 位数字。"),
            ("sent", "验证码已发送到您的手机。"),
            ("wrong_code", "验证码不正确或已过期，请重试或重新获取。"),
            ("trouble", "系统出了点问题，请重试。"),
        ],
    };
}
