//! Every word that people read, in each language. Nothing is put together from fragments: a sentence with a value in it
//! is a function.

use serde::{Deserialize, Serialize};

mod shop;

#[cfg(feature = "ssr")]
mod admin;
#[cfg(feature = "ssr")]
mod pages;

pub use shop::Shop;
#[cfg(feature = "ssr")]
pub(crate) use shop::grouped;

#[cfg(feature = "ssr")]
pub use admin::{Admin, BoardWords, DeadWords, FinderWords, Preload, ReportWords};
#[cfg(feature = "ssr")]
pub use pages::Pages;

/// A language of the shop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Lang {
    /// English.
    #[default]
    #[serde(rename = "en")]
    En,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Zh,
}

impl Lang {
    /// The tag for the document's `lang`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-CN",
        }
    }

    /// The cookie that remembers a choice.
    pub const COOKIE: &'static str = "lang";

    /// The word for cookies and forms.
    pub const fn word(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::En, Self::Zh].into_iter().find(|lang| lang.word() == word)
    }

    /// The other one, to switch to.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::En => Self::Zh,
            Self::Zh => Self::En,
        }
    }

    /// What the language calls itself.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "中文",
        }
    }

    /// The words of the islands.
    pub const fn shop(self) -> &'static Shop {
        match self {
            Self::En => &Shop::EN,
            Self::Zh => &Shop::ZH,
        }
    }

    /// The first language of an `Accept-Language` header that we speak, by its weights.
    pub fn accepted(header: &str) -> Self {
        let weighed = |entry: &str| {
            let mut parts = entry.split(';');
            let tag = parts.next()?.trim().to_ascii_lowercase();
            let lang = match tag.split('-').next()? {
                "zh" => Self::Zh,
                "en" => Self::En,
                _ => return None,
            };
            let weight = parts.find_map(|part| part.trim().strip_prefix("q=")?.parse::<f32>().ok());
            Some((lang, weight.unwrap_or(1.0)))
        };
        let mut best = (Self::En, 0.0);
        for (lang, weight) in header.split(',').filter_map(weighed) {
            // The earlier of two equals wins.
            if weight > best.1 {
                best = (lang, weight);
            }
        }
        best.0
    }
}

#[cfg(feature = "ssr")]
impl Lang {
    /// The words of the pages around the islands.
    pub const fn pages(self) -> &'static Pages {
        match self {
            Self::En => &Pages::EN,
            Self::Zh => &Pages::ZH,
        }
    }

    /// The words of the operators' pages.
    pub const fn admin(self) -> &'static Admin {
        match self {
            Self::En => &Admin::EN,
            Self::Zh => &Admin::ZH,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_language_that_we_speak_is_taken() {
        for (header, lang) in [
            ("", Lang::En),
            ("de,fr;q=0.9", Lang::En),
            ("zh-CN,zh;q=0.9,en;q=0.8", Lang::Zh),
            ("en-GB,en;q=0.9,zh;q=0.8", Lang::En),
            ("de, en;q=0.3, zh-TW;q=0.7", Lang::Zh),
            ("zh;q=0", Lang::En),
            (";;q=,=", Lang::En),
        ] {
            assert_eq!(Lang::accepted(header), lang, "{header}");
        }
    }
}
