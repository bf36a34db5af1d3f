//! Answers in the shapes that OpenAI's documentation shows.

use serde_json::{Value, json};

fn chat(message: &Value, finish_reason: &str) -> Value {
    let mut whole =
        json!({"role": "assistant", "content": null, "refusal": null, "annotations": []});
    whole
        .as_object_mut()
        .unwrap()
        .extend(message.as_object().unwrap().clone());
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_795_292_623, "model": "gpt-5.6-terra",
        "service_tier": "default", "system_fingerprint": null,
        "choices": [{"index": 0, "finish_reason": finish_reason, "logprobs": null, "message": whole}],
        "usage": {
            "prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 12, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 10, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
        },
    })
}

fn chat_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn response(output: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_795_292_623, "status": "completed",
        "model": "gpt-6.1-terra", "error": null, "incomplete_details": null, "instructions": null,
        "metadata": {}, "parallel_tool_calls": true, "temperature": null, "top_p": null,
        "tool_choice": "auto", "tools": [], "output": output,
        "usage": {
            "input_tokens": 120, "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 12},
            "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 24}, "total_tokens": 160,
        },
    })
}

fn said(id: &str, text: &str) -> Value {
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
        "arguments": arguments, "status": "completed"})
}

fn thought(id: &str, summary: &[&str]) -> Value {
    let summary: Vec<_> = summary
        .iter()
        .map(|text| json!({"type": "summary_text", "text": text}))
        .collect();
    json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": "gAAAAABo+/=="})
}

fn cut(mut response: Value, reason: &str) -> Value {
    response["status"] = json!("incomplete");
    response["incomplete_details"] = json!({"reason": reason});
    response
}

/// Answers that the API gives, and that the official client takes too.
pub(crate) fn chat_answers() -> Vec<(&'static str, Value)> {
    vec![
        ("text", chat(&json!({"content": "Grüße, 世界 🌍!"}), "stop")),
        (
            "one call",
            chat(
                &json!({"tool_calls": [chat_call("call_1", "get_weather", r#"{"city":"Paris"}"#)]}),
                "tool_calls",
            ),
        ),
        (
            "text and parallel calls",
            chat(
                &json!({"content": "I'll check both.", "tool_calls": [
                        chat_call("call_1", "get_weather", r#"{ "city": "Paris" }"#),
                        chat_call("call_2", "get_weather", r#"{"city":"Oslo"}"#)]}),
                "tool_calls",
            ),
        ),
        (
            "a call without arguments",
            chat(
                &json!({"tool_calls": [chat_call("call_1", "now", "")]}),
                "tool_calls",
            ),
        ),
        (
            "malformed arguments of an unknown tool",
            chat(
                &json!({"tool_calls": [chat_call("call_1", "nothing", r#"{"ci"#)]}),
                "tool_calls",
            ),
        ),
        (
            "cut in the arguments",
            chat(
                &json!({"tool_calls": [chat_call("call_1", "get_weather", r#"{"ci"#)]}),
                "length",
            ),
        ),
        (
            "refusal",
            chat(&json!({"refusal": "I can't help with that."}), "stop"),
        ),
        (
            "filtered",
            chat(&json!({"content": "Half of"}), "content_filter"),
        ),
        (
            "reasoning",
            chat(
                &json!({"reasoning_content": "Two cities, two calls.", "content": "Sure."}),
                "stop",
            ),
        ),
    ]
}

/// Answers that the API gives, and that the official client takes too.
pub(crate) fn responses_answers() -> Vec<(&'static str, Value)> {
    vec![
        ("text", response(&json!([said("msg_1", "Grüße, 世界 🌍!")]))),
        (
            "one call",
            response(&json!([
                thought("rs_1", &[]),
                call("call_1", "get_weather", r#"{"city":"Paris"}"#)
            ])),
        ),
        (
            "reasoning between parallel calls",
            response(&json!([
                thought("rs_1", &["Two cities,", "two calls."]),
                said("msg_1", "I'll check both."),
                call("call_1", "get_weather", r#"{ "city": "Paris" }"#),
                thought("rs_2", &[]),
                call("call_2", "get_weather", r#"{"city":"Oslo"}"#),
            ])),
        ),
        (
            "a call without arguments",
            response(&json!([call("call_1", "now", "{}")])),
        ),
        (
            "malformed arguments of an unknown tool",
            response(&json!([call("call_1", "nothing", r#"{"ci"#)])),
        ),
        (
            "cut in the arguments",
            cut(
                response(&json!([call("call_1", "get_weather", r#"{"ci"#)])),
                "max_output_tokens",
            ),
        ),
        (
            "refusal",
            response(
                &json!([{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "refusal", "refusal": "I can't help with that."}]}]),
            ),
        ),
        (
            "filtered",
            cut(
                response(&json!([said("msg_1", "Half of")])),
                "content_filter",
            ),
        ),
        (
            "phases, a compaction and a search",
            response(&json!([
                {"type": "compaction", "id": "cmp_1", "encrypted_content": "gBBB"},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "phase": "commentary",
                    "content": [{"type": "output_text", "text": "Looking.", "annotations": [], "logprobs": []}]},
                {"type": "web_search_call", "id": "ws_1", "status": "completed",
                    "action": {"type": "search", "query": "weather"}},
                {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "sql",
                    "input": "select 1", "status": "completed"},
            ])),
        ),
    ]
}

/// Answers with what no client knows yet.
pub(crate) fn chat_answers_from_the_future() -> Vec<(&'static str, Value)> {
    vec![(
        "part and call fields",
        chat(
            &json!({"content": [
                        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                        {"type": "text", "text": "yes"}],
                    "tool_calls": [
                        {"id": "call_1", "type": "function", "function": {"name": "n", "arguments": "{}"},
                            "extra_content": {"google": {"thought_signature": "s=="}}},
                        {"id": "call_2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]}),
            "tool_calls",
        ),
    )]
}

/// Answers with what no client knows yet.
pub(crate) fn responses_answers_from_the_future() -> Vec<(&'static str, Value)> {
    vec![(
        "items, parts and fields",
        response(&json!([
            {"type": "from_the_future", "id": "x_1", "x": [1, null]},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "y": {},
                "content": [{"type": "output_video", "z": 1}, {"type": "output_text", "text": "x"}]},
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "n", "arguments": "{}",
                "namespace": "ns", "caller": {"type": "direct"}, "status": "from_the_future"},
        ])),
    )]
}
