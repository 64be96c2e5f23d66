//! Instants in the reader's own zone and language.

use js_sys::{Date, Object, Reflect};
use wasm_bindgen::JsValue;

/// As the page's script writes the times that the server rendered.
const PARTS: [(&str, &str); 5] = [
    ("month", "short"),
    ("day", "numeric"),
    ("hour", "2-digit"),
    ("minute", "2-digit"),
    ("timeZoneName", "short"),
];

/// An RFC 3339 instant for people.
pub(crate) fn local(instant: &str, lang: &str) -> String {
    let options = Object::new();
    for (part, style) in PARTS {
        let _ = Reflect::set(&options, &part.into(), &style.into());
    }
    let date = Date::new(&JsValue::from_str(instant));
    date.to_locale_string(lang, &options).into()
}
