//! The words of single pages and parts of the console.

/// The live board.
#[derive(Debug)]
pub struct BoardWords {
    /// Heading.
    pub title: &'static str,
    /// Rate.
    pub accepted: &'static str,
    /// Rate.
    pub confirmed: &'static str,
    /// Rate.
    pub failed: &'static str,
    /// Unit of the rates.
    pub a_second: &'static str,
    /// Names the chart for those who can't see it.
    pub chart: &'static str,
    /// At the chart's left end.
    pub a_minute_ago: &'static str,
    /// At the chart's right end.
    pub now: &'static str,
    /// Number.
    pub redis_stock: &'static str,
    /// Number.
    pub ledger_stock: &'static str,
    /// Number.
    pub pending: &'static str,
    /// Number.
    pub oldest: &'static str,
    /// Number.
    pub dead: &'static str,
    /// Number.
    pub streams: &'static str,
    /// Number: orders that failed.
    pub failed_all: &'static str,
    /// It moves.
    pub live: &'static str,
    /// The server did not answer.
    pub lost: &'static str,
    /// Without scripts.
    pub still: &'static str,
    /// Loads the page again.
    pub refresh: &'static str,
    /// Which of the numbers are about the whole process and not this sale.
    pub hint: &'static str,
}

/// The dead letters.
#[derive(Debug)]
pub struct DeadWords {
    /// Heading and link.
    pub title: &'static str,
    /// What they are.
    pub lead: &'static str,
    /// None there.
    pub none: &'static str,
    /// When it died.
    pub died: &'static str,
    /// The order.
    pub order: &'static str,
    /// What was bought.
    pub sale: &'static str,
    /// Whose.
    pub user: &'static str,
    /// The entry as text.
    pub payload: &'static str,
    /// Button.
    pub replay: &'static str,
    /// What it does.
    pub replay_hint: &'static str,
    /// Opens the question.
    pub release: &'static str,
    /// The question.
    pub release_hint: &'static str,
    /// The box to tick.
    pub release_sure: &'static str,
    /// The button below it.
    pub release_now: &'static str,
    /// Opens the question, where there is no order.
    pub drop: &'static str,
    /// The question.
    pub drop_hint: &'static str,
    pub(super) reasons: [(&'static str, &'static str, &'static str); 3],
}

impl DeadWords {
    /// A reason's name and meaning.
    pub fn reason(&self, word: &str) -> Option<(&'static str, &'static str)> {
        self.reasons
            .iter()
            .find(|(known, ..)| *known == word)
            .map(|(_, name, meaning)| (*name, *meaning))
    }
}

/// The sum of a sale.
#[derive(Debug)]
pub struct ReportWords {
    /// Heading and link.
    pub title: &'static str,
    /// What must hold.
    pub lead: &'static str,
    /// Row.
    pub published: &'static str,
    /// Row.
    pub changed: &'static str,
    /// Row: the sum of both.
    pub units: &'static str,
    /// Row.
    pub live_orders: &'static str,
    /// Row.
    pub ledger_stock: &'static str,
    /// Row: the sum of both.
    pub accounted: &'static str,
    /// It does.
    pub adds_up: &'static str,
    /// It does not.
    pub off_by: fn(String) -> String,
    /// Heading: the other store.
    pub redis: &'static str,
    /// Row.
    pub redis_stock: &'static str,
    /// Redis does not hold the sale.
    pub not_held: &'static str,
    /// What a drift is, and when it counts.
    pub drift_hint: &'static str,
    /// Heading.
    pub returned: &'static str,
    /// Row.
    pub failed: &'static str,
    /// What became of their units.
    pub failed_hint: &'static str,
    /// Link.
    pub failed_list: &'static str,
    /// Heading.
    pub changes: &'static str,
    /// No change of stock.
    pub no_changes: &'static str,
    /// Link.
    pub json: &'static str,
    /// Link.
    pub csv: &'static str,
}

/// Looking orders up.
#[derive(Debug)]
pub struct FinderWords {
    /// Heading and link.
    pub title: &'static str,
    /// Field.
    pub phone: &'static str,
    /// Field.
    pub id: &'static str,
    /// Field and column.
    pub state: &'static str,
    /// No state chosen.
    pub any: &'static str,
    /// Field.
    pub voucher: &'static str,
    /// Column.
    pub sale: &'static str,
    /// Column.
    pub ordered: &'static str,
    /// Button.
    pub find: &'static str,
    /// Nothing matches.
    pub none: &'static str,
    /// How many are shown.
    pub shown: fn(usize) -> String,
    /// Link.
    pub next: &'static str,
    /// Link.
    pub first: &'static str,
    /// Link.
    pub csv: &'static str,
    /// Why an order failed.
    pub(super) failures: [&'static str; 3],
}

impl FinderWords {
    /// Why an order failed, for operators.
    pub const fn failure(&self, reason: domain::FailReason) -> &'static str {
        match reason {
            domain::FailReason::Duplicate => self.failures[0],
            domain::FailReason::NoStock => self.failures[1],
            domain::FailReason::Rejected => self.failures[2],
        }
    }
}
