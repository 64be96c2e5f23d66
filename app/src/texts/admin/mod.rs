//! The words of the operators' pages.

mod en;
mod parts;
mod zh;

pub use parts::{BoardWords, DeadWords, FinderWords, ReportWords};

/// The words of the operators' pages in one language.
#[derive(Debug)]
pub struct Admin {
    /// Name of the navigation between these pages.
    pub console: &'static str,
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
    /// Column: whether Redis holds the sale.
    pub preload: &'static str,
    /// Above the list: what happens to sales that are not loaded.
    pub preload_hint: &'static str,
    /// Column of times.
    pub window: &'static str,
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
    /// Below the begin of a new sale.
    pub begins_hint: &'static str,
    /// Below the begin of a sale that has begun.
    pub begun_hint: &'static str,
    /// Below money.
    pub money_hint: &'static str,
    /// The zone of the times.
    pub utc: &'static str,
    /// After a time in the reader's own zone.
    pub your_zone: &'static str,
    /// The form's button.
    pub publish: &'static str,
    /// The form's other button.
    pub keep_draft: &'static str,
    /// On a draft's page: what it is.
    pub draft_hint: &'static str,
    /// Heading.
    pub edit: &'static str,
    /// Below it.
    pub edit_hint: &'static str,
    /// Button.
    pub save: &'static str,
    /// Above a form with mistakes.
    pub look_again: &'static str,
    /// Button.
    pub pause: &'static str,
    /// Button.
    pub resume: &'static str,
    /// Opens the question.
    pub end: &'static str,
    /// The question: what ending means.
    pub end_hint: &'static str,
    /// The box to tick.
    pub end_sure: &'static str,
    /// The button below it.
    pub end_now: &'static str,
    /// Heading.
    pub steer: &'static str,
    /// Heading.
    pub restock: &'static str,
    /// Field.
    pub delta: &'static str,
    /// Below it.
    pub delta_hint: &'static str,
    /// Field and column.
    pub reason: &'static str,
    /// Button.
    pub change: &'static str,
    /// Heading.
    pub audit: &'static str,
    /// Column.
    pub when: &'static str,
    /// Column.
    pub who: &'static str,
    /// Column.
    pub what: &'static str,
    /// Column.
    pub before: &'static str,
    /// Column.
    pub after: &'static str,
    /// Neither paused nor ended.
    pub running: &'static str,
    /// The system itself.
    pub system: &'static str,
    /// Who did it.
    pub account: fn(String) -> String,
    /// The shopper's page.
    pub shop_page: &'static str,
    /// Redis does not hold it.
    pub not_loaded: &'static str,
    /// The live board.
    pub board: BoardWords,
    /// The dead letters.
    pub dead: DeadWords,
    /// The sum of a sale.
    pub report: ReportWords,
    /// Looking orders up.
    pub finder: FinderWords,
    states: [&'static str; 5],
    preloads: [&'static str; 4],
    actions: &'static [(&'static str, &'static str)],
    told: &'static [(&'static str, &'static str)],
    wrong: &'static [(&'static str, &'static str)],
}

/// Whether Redis holds a sale as the ledger has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preload {
    /// It does.
    Done,
    /// It does not hold it.
    Missing,
    /// It holds another epoch of it.
    Differs,
    /// The sale is over, or not published: it need not.
    NotNeeded,
}

impl Preload {
    /// For style sheets and tests.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Missing => "missing",
            Self::Differs => "differs",
            Self::NotNeeded => "not_needed",
        }
    }
}

fn lookup(table: &'static [(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table
        .iter()
        .find(|(known, _)| *known == word)
        .map(|(_, text)| *text)
}

impl Admin {
    /// A sale's state.
    pub const fn state_of(&self, state: domain::SaleState) -> &'static str {
        self.states[state as usize]
    }

    /// Whether Redis holds it.
    pub const fn preload_of(&self, preload: Preload) -> &'static str {
        self.preloads[preload as usize]
    }

    /// What was done, from the audit log's word.
    pub fn action(&self, word: &str) -> Option<&'static str> {
        lookup(self.actions, word)
    }

    /// What operators last did to a sale, from the audit log's word.
    pub fn control<'a>(&'a self, word: &'a str) -> &'a str {
        match word {
            "running" => self.running,
            "paused" => self.states[domain::SaleState::Paused as usize],
            "ended" => self.states[domain::SaleState::Ended as usize],
            "draft" => self.states[domain::SaleState::Draft as usize],
            other => other,
        }
    }

    /// A field by its name in the audit log.
    pub fn field<'a>(&'a self, name: &'a str) -> &'a str {
        match name {
            "title" => self.title,
            "units" => self.units,
            "sub_title" => self.sub_title,
            "rules" => self.rules,
            "pay_value" => self.pay_value,
            "actual_value" => self.actual_value,
            "begins_at" => self.begins_at,
            "ends_at" => self.ends_at,
            other => other,
        }
    }

    /// What became of the last form.
    pub fn told(&self, word: &str) -> Option<&'static str> {
        lookup(self.told, word)
    }

    /// What a field's code means.
    pub fn wrong(&self, field: &str, code: &str) -> &'static str {
        lookup(self.wrong, &format!("{field}.{code}"))
            .or_else(|| lookup(self.wrong, code))
            .unwrap_or(self.look_again)
    }
}
