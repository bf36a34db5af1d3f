//! Answers as the API sends them.

use serde_json::{Value, json};

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

/// Returns what the API may answer today, by name.
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
            "container",
            with(
                message(json!([text("It printed 4.")]), "end_turn"),
                json!({"container": {"id": "container_1", "expires_at": "2100-01-01T00:00:00Z"}}),
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

/// Returns what the API says of a model.
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

/// Returns what the API may answer one day, and what servers answer that call themselves compatible.
pub(crate) fn odd_answers() -> Vec<(&'static str, Value)> {
    vec![
        (
            "bare",
            json!({"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}),
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
                json!({"from_the_future": {"a": 1}, "service_tier": "on_demand", "container": "odd",
                    "input_transformations": [{"type": "thinking_dropped", "index": 3}]}),
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
