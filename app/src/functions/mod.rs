//! What the pages' forms call. Each is a public endpoint: it parses, checks who asks, calls one use case, and answers a
//! program with a value and a plain form with a page.

use leptos::{
    prelude::{FromServerFnError, ServerFnErrorErr},
    server_fn::codec::JsonEncoding,
};
use serde::{Deserialize, Serialize};

pub mod admin;
pub mod grab;
pub mod session;
pub mod speak;

#[cfg(feature = "ssr")]
pub(crate) mod reply;

#[cfg(feature = "ssr")]
pub(crate) use admin::utc;
pub use admin::{
    CreateSale, Created, Dealt, DraftForm, EditSale, Edited, ReleaseLetter, ReplayLetter, Restock, Restocked,
    Steer, Steered,
};
pub use grab::Grab;
pub use session::{CodeAnswer, LogIn, LogInAnswer, LogOut, SendCode};
#[cfg(feature = "ssr")]
pub(crate) use session::{local_path, remembered};
pub use speak::Speak;

/// Where the functions are.
pub const PREFIX: &str = "/api/fn";

/// Why a function gave no value. No text of an inner error is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Nobody is logged in.
    SignIn,
    /// Somebody is, but may not do this.
    Forbidden,
    /// The request can't be read.
    Invalid,
    /// It can't be done now; the same call again is safe.
    Trouble,
}

impl Refusal {
    /// Reads the word that its JSON is.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "sign_in" => Self::SignIn,
            "forbidden" => Self::Forbidden,
            "invalid" => Self::Invalid,
            "trouble" => Self::Trouble,
            _ => return None,
        })
    }
}

impl FromServerFnError for Refusal {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let refusal = match error {
            ServerFnErrorErr::Args(_)
            | ServerFnErrorErr::MissingArg(_)
            | ServerFnErrorErr::Deserialization(_) => Self::Invalid,
            _ => Self::Trouble,
        };
        // A body that can't be read never reaches the function: without this its status would be 500.
        #[cfg(feature = "ssr")]
        reply::refuse(refusal);
        refusal
    }
}

/// Makes the functions known. Usually the linker has done it; a server that must not depend on it calls this.
#[cfg(feature = "ssr")]
pub fn register() {
    use leptos::server_fn::axum::register_explicit;
    register_explicit::<Grab>();
    register_explicit::<SendCode>();
    register_explicit::<LogIn>();
    register_explicit::<LogOut>();
    register_explicit::<Speak>();
    register_explicit::<CreateSale>();
    register_explicit::<Steer>();
    register_explicit::<Restock>();
    register_explicit::<EditSale>();
    register_explicit::<ReplayLetter>();
    register_explicit::<ReleaseLetter>();
}
