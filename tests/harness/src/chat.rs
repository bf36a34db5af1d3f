//! The OpenAI Chat Completions wire, as far as a fake of it needs it.

use serde_json::{Value, json};

/// Returns an answer that is a text.
#[must_use]
pub fn text(text: &str) -> Value {
    answer(&json!({"role": "assistant", "content": text}), "stop")
}

/// Returns an answer that asks for tool calls: id, tool and arguments of each.
#[must_use]
pub fn calls(calls: &[(&str, &str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(id, tool, args)| {
            let function = json!({"name": tool, "arguments": args.to_string()});
            json!({"id": id, "type": "function", "function": function})
        })
        .collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    answer(&message, "tool_calls")
}

fn answer(message: &Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_795_262_400,
        "model": "fake-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    })
}

/// Returns an error body.
#[must_use]
pub fn error(code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": code, "param": null, "code": code}})
}

/// Returns the messages of a request.
///
/// # Panics
///
/// If the request has no messages.
#[must_use]
pub fn messages(request: &Value) -> &Vec<Value> {
    request["messages"].as_array().unwrap()
}

/// Returns which turn a request is for, counted from 1: one more than the answers in it.
#[must_use]
pub fn turn(request: &Value) -> usize {
    let answers = messages(request).iter();
    1 + answers
        .filter(|message| message["role"] == "assistant")
        .count()
}

/// Returns the tool results in a request: the call's id and the text, in their order.
///
/// # Panics
///
/// If a result lacks the id or the text.
#[must_use]
pub fn tool_results(request: &Value) -> Vec<(String, String)> {
    messages(request)
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| {
            let id = message["tool_call_id"].as_str().unwrap();
            (id.to_owned(), content(message))
        })
        .collect()
}

/// Returns the text of a message, in one piece or in parts.
///
/// # Panics
///
/// If the message has no text.
#[must_use]
pub fn content(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .map(|part| part["text"].as_str().unwrap())
            .collect(),
        other => panic!("no text: {other}"),
    }
}
