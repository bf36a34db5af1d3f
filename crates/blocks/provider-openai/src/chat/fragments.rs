use neuron_provider_http::{FinishedCall, Fragment};
use neuron_types::ContentBlock;
use serde_json::{Map, Value};

use crate::arguments::{received_call, received_custom_call};

/// Reads an entry of `tool_calls`, whole or in part.
pub(crate) fn read(mut entry: Map<String, Value>) -> Fragment {
    let mut fragment = Fragment {
        index: entry.remove("index").as_ref().and_then(index),
        id: take_text(&mut entry, "id"),
        ..Fragment::default()
    };
    if entry
        .get("type")
        .is_some_and(|kind| matches!(kind.as_str(), Some("" | "function")))
    {
        entry.remove("type");
    }
    // Some servers leave the function around them out.
    if !entry.contains_key("function") && !entry.contains_key("custom") {
        let flat = ["name", "arguments"].into_iter();
        let function = flat.filter_map(|name| entry.remove_entry(name)).collect();
        entry.insert("function".to_owned(), Value::Object(function));
    }
    for (part, field) in [("function", "arguments"), ("custom", "input")] {
        if let Some(Value::Object(mut part)) = entry.remove(part) {
            fragment.is_plain = field == "input";
            fragment.name = take_text(&mut part, "name");
            fragment.arguments = match part.remove(field) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
            };
        }
    }
    entry.retain(|_, value| !value.is_null());
    fragment.extra = entry;
    fragment
}

/// Returns the call as a block.
pub(crate) fn block(call: FinishedCall) -> ContentBlock {
    let FinishedCall {
        id,
        name,
        arguments,
        extra,
    } = call;
    if extra.get("type").is_some_and(|kind| kind == "custom") {
        received_custom_call(Some(id), name, arguments, extra)
    } else {
        received_call(Some(id), name, Some(Value::String(arguments)), extra)
    }
}

/// Returns the place of a call, which some servers write as a text or with a fraction.
fn index(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let text = number.to_string();
            text.strip_suffix(".0")?.parse().ok()
        }),
        _ => None,
    }
}

fn take_text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
