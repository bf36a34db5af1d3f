//! What resources hold, and prompts that are filled in.

use rmcp::model::{PromptMessage, ResourceContents};
use serde_json::{Value, json};

use super::fields::{Fields, block, fits, text};

pub(super) fn resource(result: Value) -> Option<Value> {
    let Value::Object(mut fields) = result else {
        return None;
    };
    let contents = match fields.remove("contents")? {
        Value::Array(contents) => contents,
        Value::Null => Vec::new(),
        one => vec![one],
    };
    let contents: Vec<_> = contents.into_iter().map(contents_of).collect();
    Some(json!({"contents": contents}))
}

fn contents_of(piece: Value) -> Value {
    if fits::<ResourceContents>(&piece) {
        return piece;
    }
    if let Value::Object(fields) = &piece {
        let uri = text(fields, "uri").unwrap_or_default();
        let held = ["text", "blob"].into_iter().find_map(|name| {
            let held = fields.get(name)?.as_str()?;
            Some((name, held))
        });
        if let Some((name, held)) = held {
            let mime_type = text(fields, "mimeType");
            return json!({"uri": uri, name: held, "mimeType": mime_type});
        }
    }
    let text = match piece {
        Value::String(text) => text,
        piece => piece.to_string(),
    };
    json!({"uri": "", "text": text})
}

pub(super) fn prompt(result: Value) -> Option<Value> {
    let Value::Object(mut fields) = result else {
        return None;
    };
    let messages = match fields.remove("messages")? {
        Value::Array(messages) => messages,
        Value::Null => Vec::new(),
        one => vec![one],
    };
    let messages: Vec<_> = messages.into_iter().flat_map(messages_of).collect();
    let description = text(&fields, "description");
    Some(json!({"messages": messages, "description": description}))
}

/// Returns a message for each piece of its content.
fn messages_of(message: Value) -> Vec<Value> {
    if fits::<PromptMessage>(&message) {
        return vec![message];
    }
    let user = |piece| vec![json!({"role": "user", "content": block(piece)})];
    let Value::Object(mut fields) = message else {
        return user(message);
    };
    let role = role(&fields);
    match fields.remove("content") {
        Some(Value::Array(pieces)) => pieces
            .into_iter()
            .map(|piece| json!({"role": role, "content": block(piece)}))
            .collect(),
        Some(piece) => vec![json!({"role": role, "content": block(piece)})],
        None => user(Value::Object(fields)),
    }
}

fn role(fields: &Fields) -> &'static str {
    match text(fields, "role") {
        Some("assistant") => "assistant",
        _ => "user",
    }
}
