//! Events as OpenAI sends them.

use serde_json::Value;

/// The pieces of at most `size` characters that a text comes in.
pub(crate) fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(String::from_iter).collect()
}

pub(crate) fn event(event: &Value) -> String {
    match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    }
}

pub(crate) fn lines(events: &[Value]) -> String {
    events.iter().map(event).collect()
}
