//! Events as OpenAI sends them.

use serde_json::Value;

pub(crate) fn event(event: &Value) -> String {
    match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    }
}

pub(crate) fn lines(events: &[Value]) -> String {
    events.iter().map(event).collect()
}
