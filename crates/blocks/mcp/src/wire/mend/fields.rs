//! Fields of objects that servers send.

use rmcp::model::ContentBlock;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub(super) type Fields = Map<String, Value>;

pub(super) fn fits<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

/// Removes those of the named fields that the predicate rejects: they are optional.
pub(super) fn keep_if(fields: &mut Fields, names: &[&str], is_kept: fn(&Value) -> bool) {
    for name in names {
        if fields.get(*name).is_some_and(|value| !is_kept(value)) {
            fields.remove(*name);
        }
    }
}

/// Returns a text that is not empty.
pub(super) fn text<'a>(fields: &'a Fields, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// Reads a yes or no, also where it is written as a text or a number.
pub(super) fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        Value::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        Value::Number(number) => match number.as_i64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a piece of content: as it came if it fits, without what is optional if that helps, else as text.
pub(super) fn block(mut piece: Value) -> Value {
    if fits::<ContentBlock>(&piece) {
        return piece;
    }
    if let Value::Object(fields) = &piece {
        let mut bare = fields.clone();
        bare.retain(|name, _| !matches!(name.as_str(), "annotations" | "_meta" | "icons"));
        let bare = Value::Object(bare);
        if fits::<ContentBlock>(&bare) {
            return bare;
        }
    }
    let text = match &mut piece {
        Value::String(text) => std::mem::take(text),
        piece => piece.to_string(),
    };
    text_block(&text)
}

pub(super) fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}
