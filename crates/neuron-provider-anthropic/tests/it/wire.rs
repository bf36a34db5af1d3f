//! Answers as the API sends them, whole and as streams.

use serde_json::{Map, Value, json};

/// A message of these blocks, with every field that the API sends.
pub(crate) fn message(content: Value, stop_reason: &str) -> Value {
    let message = json!({"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "stop_reason": stop_reason, "stop_sequence": null, "stop_details": null,
        "container": null, "diagnostics": null,
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 5120,
            "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 180, "output_tokens_details": {"thinking_tokens": 120},
            "server_tool_use": null, "service_tier": "standard", "inference_geo": "us"}});
    with(message, Value::from_iter([("content", content)]))
}

/// The message with these fields in place of its own.
fn with(mut message: Value, fields: Value) -> Value {
    if let (Some(message), Value::Object(fields)) = (message.as_object_mut(), fields) {
        message.extend(fields);
    }
    message
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text, "citations": null})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    let call = json!({"type": "tool_use", "id": id, "name": name, "caller": {"type": "direct"}});
    with(call, Value::from_iter([("input", input)]))
}

fn thinking(thinking: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": thinking, "signature": signature})
}

/// What the API may answer today, by name.
pub(crate) fn answers() -> Vec<(&'static str, Value)> {
    let paris = || json!({"city": "Paris"});
    vec![
        (
            "text",
            message(
                json!([text("The capital of France is Paris. ☂")]),
                "end_turn",
            ),
        ),
        (
            "one_call",
            message(
                json!([text("I'll check."), call("toolu_1", "get_weather", paris())]),
                "tool_use",
            ),
        ),
        (
            "parallel_calls",
            message(
                json!([
                    call("toolu_1", "get_weather", paris()),
                    call(
                        "toolu_2",
                        "get_weather",
                        json!({"city": "Oslo", "days": [1, 2.5, null], "deep": {"a": {"b": "\"\\"}}})
                    )
                ]),
                "tool_use",
            ),
        ),
        (
            "call_without_arguments",
            message(json!([call("toolu_1", "now", json!({}))]), "tool_use"),
        ),
        (
            "call_of_an_unknown_tool",
            message(
                json!([call("toolu_1", "no_such_tool", paris())]),
                "tool_use",
            ),
        ),
        (
            "signed_thinking",
            message(
                json!([thinking("Paris is in France.", "EqQB+/=="), text("Paris.")]),
                "end_turn",
            ),
        ),
        (
            "omitted_thinking",
            message(
                json!([thinking("", "EqQB+/=="), text("Paris.")]),
                "end_turn",
            ),
        ),
        (
            "redacted_thinking",
            message(
                json!([
                    {"type": "redacted_thinking", "data": "b64=="}, text("Paris.")
                ]),
                "end_turn",
            ),
        ),
        (
            "interleaved_thinking",
            message(
                json!([
                    thinking("one", "EqQB"),
                    text("First."),
                    thinking("", "EqQC"),
                    call("toolu_1", "get_weather", paris()),
                    thinking("two", "EqQD"),
                    call("toolu_2", "now", json!({}))
                ]),
                "tool_use",
            ),
        ),
        (
            "refusal",
            with(
                message(json!([]), "refusal"),
                json!({"stop_details":
            {"type": "refusal", "category": "cyber", "explanation": "I can't help with that."}}),
            ),
        ),
        (
            "cut_in_a_call",
            message(
                json!([
                    text("I'll write it."),
                    call("toolu_1", "write_file", json!({"path": "a.txt"}))
                ]),
                "max_tokens",
            ),
        ),
        (
            "stop_sequence",
            with(
                message(json!([text("One, two")]), "stop_sequence"),
                json!({"stop_sequence": "three"}),
            ),
        ),
        (
            "full_window",
            message(json!([text("…")]), "model_context_window_exceeded"),
        ),
        (
            "paused_server_tool",
            message(
                json!([
                    text("Searching."),
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "weather"},
                        "caller": {"type": "direct"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "caller": {"type": "direct"}, "content": [
                        {"type": "web_search_result", "title": "t", "url": "https://example.com", "encrypted_content": "e",
                            "page_age": null}]}
                ]),
                "pause_turn",
            ),
        ),
        (
            "citations",
            message(
                json!([
                    {"type": "text", "text": "It rains.", "citations": [
                        {"type": "char_location", "cited_text": "rain", "document_index": 0, "document_title": null,
                            "start_char_index": 0, "end_char_index": 4, "file_id": null}]},
                    text("So it is.")
                ]),
                "end_turn",
            ),
        ),
        (
            "compaction",
            with(
                message(
                    json!([
                        {"type": "compaction", "content": "The user asked for the weather.", "encrypted_content": "opaque"}
                    ]),
                    "compaction",
                ),
                json!({"usage": {"input_tokens": 1, "output_tokens": 4,
            "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0, "iterations": [
                {"type": "compaction", "input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2,
                    "cache_creation_input_tokens": 0, "cache_creation": null}]}}),
            ),
        ),
        (
            "edited_context",
            with(
                message(json!([text("Done.")]), "end_turn"),
                json!({"context_management":
            {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8,
                "cleared_input_tokens": 50000}]}}),
            ),
        ),
    ]
}

/// What the API says of a model.
pub(crate) fn model(id: &str) -> Value {
    let yes = || json!({"supported": true});
    let no = || json!({"supported": false});
    json!({"type": "model", "id": id, "display_name": "Claude", "created_at": "2026-09-01T00:00:00Z",
        "lifecycle": "active", "max_input_tokens": 1_000_000, "max_tokens": 128_000, "capabilities": {
            "batch": yes(), "citations": yes(), "code_execution": yes(), "image_input": yes(), "pdf_input": yes(),
            "structured_outputs": yes(),
            "context_management": {"supported": true, "compact_20260112": yes()},
            "server_tools": {"supported": true, "code_execution": yes(), "web_search": yes()},
            "effort": {"supported": true, "low": yes(), "medium": yes(), "high": yes(), "max": no()},
            "thinking": {"supported": true, "types": {
                "enabled": no(), "adaptive": yes(), "disabled": no(), "between_tools": yes()}}}})
}

/// What the API may answer one day, and what servers answer that call themselves compatible.
pub(crate) fn odd_answers() -> Vec<(&'static str, Value)> {
    vec![
        (
            "bare",
            json!({"content": [{"type": "text", "text": "Hi."}]}),
        ),
        (
            "no_usage",
            with(
                message(json!([text("Hi.")]), "end_turn"),
                json!({"usage": null}),
            ),
        ),
        (
            "empty_usage",
            with(
                message(json!([text("Hi.")]), "end_turn"),
                json!({"usage": {}}),
            ),
        ),
        (
            "unknown_reason",
            message(json!([text("Hi.")]), "from_the_future"),
        ),
        (
            "unknown_block",
            message(
                json!([
                    {"type": "from_the_future", "text": "t", "anything": [1, 2.5, null, {"a": "b"}]}, text("Hi.")
                ]),
                "end_turn",
            ),
        ),
        (
            "unknown_field",
            with(
                message(
                    json!([
                        {"type": "thinking", "thinking": "hm", "signature": "s", "from_the_future": true}, text("Hi.")
                    ]),
                    "end_turn",
                ),
                json!({"from_the_future": {"a": 1}, "service_tier": "on_demand"}),
            ),
        ),
        (
            "failed_compaction",
            message(
                json!([
                    {"type": "compaction", "content": null, "encrypted_content": null}, text("Hi.")
                ]),
                "end_turn",
            ),
        ),
        (
            "signed_compaction",
            message(
                json!([
                    {"type": "compaction", "content": "So far.", "signature": "EqQB", "tool_changes": []}
                ]),
                "compaction",
            ),
        ),
    ]
}

/// The same message as a stream, its texts in pieces of so many characters.
pub(crate) fn streamed(message: &Value, piece: usize) -> String {
    let mut start = message.as_object().unwrap().clone();
    let content = start
        .insert("content".into(), json!([]))
        .unwrap_or(json!([]));
    let mut delta = Map::new();
    for name in ["stop_reason", "stop_sequence", "stop_details", "container"] {
        if let Some(value) = start.get_mut(name) {
            delta.insert(name.into(), value.take());
        }
    }
    let mut end = json!({"type": "message_delta", "delta": delta});
    if let Some(usage) = start
        .get("usage")
        .filter(|usage| usage.is_object())
        .cloned()
    {
        if let Some(output) = start["usage"].get_mut("output_tokens") {
            *output = json!(1);
        }
        end["usage"] = usage;
    }
    if let Some(edits) = start.remove("context_management") {
        end["context_management"] = edits;
    }
    let mut events = vec![
        json!({"type": "message_start", "message": start}),
        json!({"type": "ping"}),
    ];
    for (index, block) in content.as_array().unwrap().iter().enumerate() {
        let (seed, deltas) = apart(block, piece);
        events.push(json!({"type": "content_block_start", "index": index, "content_block": seed}));
        let deltas = deltas.into_iter();
        events.extend(
            deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.extend([end, json!({"type": "message_stop"})]);
    let event = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    events.iter().map(event).collect()
}

/// A block as it starts, and what then comes of it.
fn apart(block: &Value, piece: usize) -> (Value, Vec<Value>) {
    let mut seed = block.clone();
    let mut deltas = Vec::new();
    match block["type"].as_str().unwrap() {
        "text" => {
            if let Some(citations) = block["citations"]
                .as_array()
                .filter(|citations| !citations.is_empty())
            {
                seed.as_object_mut().unwrap().remove("citations");
                let delta = |citation| json!({"type": "citations_delta", "citation": citation});
                deltas.extend(citations.iter().map(delta));
            }
            grow(&mut seed, "text", "text_delta", "text", piece, &mut deltas);
        }
        "thinking" => {
            grow(
                &mut seed,
                "thinking",
                "thinking_delta",
                "thinking",
                piece,
                &mut deltas,
            );
            if let Some(signature) = block["signature"].as_str() {
                seed["signature"] = json!("");
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
        }
        "tool_use" | "server_tool_use" => {
            let text = block["input"].to_string();
            seed["input"] = json!({});
            if text != "{}" {
                deltas.extend(
                    pieces(&text, piece)
                        .map(|part| json!({"type": "input_json_delta", "partial_json": part})),
                );
            }
        }
        "compaction" => {
            let mut delta = seed.clone();
            delta["type"] = json!("compaction_delta");
            seed = json!({"type": "compaction"});
            deltas.push(delta);
        }
        _ => {}
    }
    (seed, deltas)
}

fn grow(
    seed: &mut Value,
    field: &str,
    kind: &str,
    name: &str,
    piece: usize,
    deltas: &mut Vec<Value>,
) {
    let Some(text) = seed[field].as_str().map(str::to_owned) else {
        return;
    };
    seed[field] = json!("");
    deltas.extend(pieces(&text, piece).map(|part| json!({"type": kind, name: part})));
}

fn pieces(text: &str, piece: usize) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let chunks: Vec<String> = characters
        .chunks(piece.max(1))
        .map(|chunk| chunk.iter().collect())
        .collect();
    chunks.into_iter()
}
