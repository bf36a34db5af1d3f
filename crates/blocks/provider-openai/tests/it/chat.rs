//! Chat Completions: how its server writes, and the suite.

use neuron_provider_openai::{ChatSettings, OpenAiBuilder, OpenAiChat};
use neuron_types::FailureKind;
use neuron_wires::{Api, pieces};
use serde_json::{Value, json};

use crate::{errors, event::event, fake_api::chat_answer, fixtures};

pub(crate) struct Chat;

impl Api for Chat {
    neuron_wires::built_by!(OpenAiBuilder<ChatSettings>, OpenAiChat);

    const NAME: &'static str = "the model server";
    const MODEL: &'static str = "gpt-6.1-terra";
    const BASE: &'static str = "/v1";
    const PATH: &'static str = "/v1/chat/completions";
    const KEY_VARIABLE: &'static str = "OPENAI_API_KEY";
    const KEYED: &'static [Option<&'static str>] = &[None, Some("https://eu.api.openai.com/v1")];
    const KEYLESS: &'static [Option<&'static str>] = &[Some("http://127.0.0.1:9/v1")];
    const HOST: &'static str = "https://api.openai.com";
    const NOTHING: &'static str = "data: {}\n\n";
    const MARKER: &'static str = "data: [DONE]\n\n";
    const ERRORS: &'static str = errors::ERRORS;
    const STREAM_ERRORS: &'static str = errors::STREAM_ERRORS;

    fn answer(text: &str) -> Value {
        let mut answer = fixtures::chat_answers().swap_remove(2).1;
        answer["choices"][0]["message"]["content"] = json!(text);
        answer
    }

    fn answers() -> Vec<(&'static str, Value)> {
        [
            fixtures::chat_answers(),
            fixtures::chat_answers_from_the_future(),
        ]
        .concat()
    }

    fn events(answer: &Value, piece: usize) -> Vec<String> {
        events(answer, piece).iter().map(event).collect()
    }

    fn is_all(event: &str) -> bool {
        event.contains("\"finish_reason\":\"")
    }

    fn error(kind: &str, code: &str, message: &str) -> Value {
        errors::body(kind, code, message)
    }

    fn other_error_events() -> Vec<(String, FailureKind)> {
        let kinds = [
            (
                json!({"message": "why", "type": "BadRequestError", "code": 400}),
                FailureKind::InvalidRequest,
            ),
            (
                json!({"message": "why: maximum context length", "code": 400}),
                FailureKind::ContextLength,
            ),
        ];
        let own = kinds.map(|(mut error, kind)| {
            error["object"] = json!("error");
            (event(&error), kind)
        });
        [own.to_vec(), errors::other_events()].concat()
    }

    fn answer_of(content: &Value) -> Value {
        chat_answer(content)
    }

    fn sent_back(request: &Value) -> Value {
        request["messages"][1].clone()
    }

    fn contents() -> Vec<(Value, &'static str, usize)> {
        let calls = json!({"role": "assistant", "content": "I'll check.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "n", "arguments": "{ \"b\": 1.50, \"a\": 2 }"},
                "extra_content": {"google": {"thought_signature": "s=="}}},
            {"id": "call_2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
            {"id": "call_3", "type": "function", "function": {"name": "n", "arguments": "{\"cut"}}]});
        let parts = json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "yes"}]});
        vec![(calls, "I'll check.", 3), (parts, "yes", 0)]
    }
}

neuron_wires::suite!(Chat);

fn events(answer: &Value, size: usize) -> Vec<Value> {
    let message = &answer["choices"][0]["message"];
    let chunk = |choices: Value| {
        json!({
            "id": answer["id"], "object": "chat.completion.chunk", "created": answer["created"],
            "model": answer["model"], "choices": choices, "usage": null,
        })
    };
    let delta = |delta: Value| {
        chunk(json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]))
    };
    let mut events = vec![delta(
        json!({"role": "assistant", "content": "", "refusal": null}),
    )];
    for field in ["reasoning_content", "reasoning", "content", "refusal"] {
        if let Some(text) = message[field].as_str() {
            events.extend(
                pieces(text, size)
                    .iter()
                    .map(|text| delta(json!({field: text}))),
            );
        }
    }
    if let Some(parts) = message["content"].as_array() {
        events.extend(parts.iter().map(|part| delta(json!({"content": [part]}))));
    }
    for (index, call) in message["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let (part, field) = match call.get("custom") {
            Some(_) => ("custom", "input"),
            None => ("function", "arguments"),
        };
        let mut first = call.clone();
        first["index"] = json!(index);
        first[part][field] = json!("");
        events.push(delta(json!({"tool_calls": [first]})));
        let text = call[part][field].as_str().unwrap_or_default();
        events.extend(
            pieces(text, size)
                .iter()
                .map(|text| delta(json!({"tool_calls": [{"index": index, part: {field: text}}]}))),
        );
    }
    let reason = &answer["choices"][0]["finish_reason"];
    events.push(chunk(
        json!([{"index": 0, "delta": {}, "logprobs": null, "finish_reason": reason}]),
    ));
    if !answer["usage"].is_null() {
        let mut last = chunk(json!([]));
        last["usage"] = answer["usage"].clone();
        events.push(last);
    }
    events
}
