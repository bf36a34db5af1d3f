//! Responses: how its server writes, and the suite.

use neuron_provider_openai::{OpenAiBuilder, OpenAiResponses, ResponsesSettings};
use neuron_types::FailureKind;
use neuron_wires::{Api, pieces};
use serde_json::{Value, json};

use crate::{errors, event::event, fixtures};

pub(crate) struct Responses;

impl Api for Responses {
    neuron_wires::built_by!(OpenAiBuilder<ResponsesSettings>, OpenAiResponses);

    const NAME: &'static str = "the model server";
    const MODEL: &'static str = "gpt-6.1-terra";
    const BASE: &'static str = "/v1";
    const PATH: &'static str = "/v1/responses";
    const KEY_VARIABLE: &'static str = "OPENAI_API_KEY";
    const KEYED: &'static [Option<&'static str>] = &[None, Some("https://eu.api.openai.com/v1")];
    const KEYLESS: &'static [Option<&'static str>] = &[Some("http://127.0.0.1:9/v1")];
    const HOST: &'static str = "https://api.openai.com";
    const NOTHING: &'static str = "data: {\"type\":\"response.from_the_future\",\"x\":[]}\n\n";
    const ERRORS: &'static str = errors::ERRORS;
    const STREAM_ERRORS: &'static str = errors::STREAM_ERRORS;

    fn answer(text: &str) -> Value {
        let mut answer = fixtures::responses_answers().swap_remove(2).1;
        answer["output"][1]["content"][0]["text"] = json!(text);
        answer
    }

    fn answers() -> Vec<(&'static str, Value)> {
        [
            fixtures::responses_answers(),
            fixtures::responses_answers_from_the_future(),
        ]
        .concat()
    }

    fn events(answer: &Value, piece: usize) -> Vec<String> {
        events(answer, piece).iter().map(event).collect()
    }

    fn is_all(event: &str) -> bool {
        event.starts_with("event: response.completed")
    }

    fn error(kind: &str, code: &str, message: &str) -> Value {
        errors::body(kind, code, message)
    }

    fn other_error_events() -> Vec<(String, FailureKind)> {
        let flat = |code: Value| json!({"type": "error", "code": code, "message": "why", "param": null, "sequence_number": 2});
        let failed = |kind: &str, code: &str| {
            let error = json!({"code": code, "message": "why"});
            json!({"type": kind, "response": {"status": "failed", "output": [], "error": error}})
        };
        let mut typed = errors::body("x", "invalid_prompt", "why");
        typed["type"] = json!("error");
        let own = [
            (typed, FailureKind::InvalidRequest),
            (flat(json!("server_error")), FailureKind::Unavailable),
            (flat(Value::Null), FailureKind::Unavailable),
            (flat(json!(400)), FailureKind::InvalidRequest),
            (
                failed("response.failed", "rate_limit_exceeded"),
                FailureKind::RateLimited,
            ),
            (
                failed("response.failed", "server_error"),
                FailureKind::Unavailable,
            ),
            (
                failed("response.completed", "server_error"),
                FailureKind::Unavailable,
            ),
        ];
        let own = own.map(|(error, kind)| (event(&error), kind));
        [own.to_vec(), errors::other_events()].concat()
    }

    fn answer_of(content: &Value) -> Value {
        json!({"output": content})
    }

    fn sent_back(request: &Value) -> Value {
        let items = request["input"].as_array().unwrap();
        json!(items[1..items.len() - 1])
    }

    fn contents() -> Vec<(Value, &'static str, usize)> {
        let output = json!([
            {"type":"compaction","id":"cmp_1","encrypted_content":"…"},
            {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA","status":null},
            {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary",
                "content":[
                    {"type":"output_text","text":"First. ","annotations":[{"type":"url_citation","url":"https://example.com"}],"logprobs":[]},
                    {"type":"from_the_future","x":1},
                    {"type":"output_text","text":"","annotations":[]},
                    {"type":"output_text","text":"Second.","annotations":[]}]},
            {"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gBBB"},
            {"type":"function_call","id":"fc_1","call_id":"call_1","name":"n","arguments":"{ \"b\": 1.50, \"a\": 2 }","status":"completed","namespace":"x","caller":null},
            {"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"sql","input":"select 1","status":"completed"},
            {"type":"function_call","id":"fc_2","call_id":"call_3","name":"n","arguments":"{\"cut","status":"incomplete"},
            {"type":"web_search_call","id":"ws_1","action":{"type":"search","sources":[]}},
            {"type":"message","id":"msg_2","role":"assistant","content":[{"type":"refusal","refusal":"No."}]},
            {"type":"message","id":"msg_3","role":"assistant","content":[]},
        ]);
        vec![(output, "First. Second.No.", 3)]
    }
}

neuron_wires::suite!(Responses);

fn events(answer: &Value, size: usize) -> Vec<Value> {
    let mut begun = answer.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    begun["incomplete_details"] = Value::Null;
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in answer["output"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        item_events(index, item, size, &mut events);
    }
    let status = answer["status"].as_str().unwrap();
    events.push(json!({"type": format!("response.{status}"), "response": answer}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

/// Announces an item, hands it out in pieces and says that it is done.
fn item_events(output_index: usize, item: &Value, size: usize, events: &mut Vec<Value>) {
    let item_id = &item["id"];
    let mut at = |kind: &str, more: Value| {
        let mut event = json!({
            "type": format!("response.{kind}"), "output_index": output_index, "item_id": item_id,
        });
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        events.push(event);
    };
    let mut begun = item.clone();
    match item["type"].as_str().unwrap_or_default() {
        "message" => {
            begun["status"] = json!("in_progress");
            begun["content"] = json!([]);
            at("output_item.added", json!({"item": begun}));
            for (index, part) in item["content"].as_array().into_iter().flatten().enumerate() {
                let (kind, field) = match part["type"].as_str() {
                    Some("output_text") => ("output_text", "text"),
                    Some("refusal") => ("refusal", "refusal"),
                    _ => continue,
                };
                let mut empty = part.clone();
                empty[field] = json!("");
                at(
                    "content_part.added",
                    json!({"content_index": index, "part": empty}),
                );
                let text = part[field].as_str().unwrap_or_default();
                for delta in pieces(text, size) {
                    let delta = json!({"content_index": index, "delta": delta, "logprobs": []});
                    at(&format!("{kind}.delta"), delta);
                }
                let done = json!({"content_index": index, field: text, "logprobs": []});
                at(&format!("{kind}.done"), done);
                at(
                    "content_part.done",
                    json!({"content_index": index, "part": part}),
                );
            }
        }
        "reasoning" => {
            begun["summary"] = json!([]);
            at("output_item.added", json!({"item": begun}));
            for (index, part) in item["summary"].as_array().into_iter().flatten().enumerate() {
                let empty = json!({"type": "summary_text", "text": ""});
                at(
                    "reasoning_summary_part.added",
                    json!({"summary_index": index, "part": empty}),
                );
                let text = part["text"].as_str().unwrap_or_default();
                for delta in pieces(text, size) {
                    let delta = json!({"summary_index": index, "delta": delta});
                    at("reasoning_summary_text.delta", delta);
                }
                at(
                    "reasoning_summary_text.done",
                    json!({"summary_index": index, "text": text}),
                );
                at(
                    "reasoning_summary_part.done",
                    json!({"summary_index": index, "part": part}),
                );
            }
        }
        kind @ ("function_call" | "custom_tool_call") => {
            let (name, field) = match kind {
                "function_call" => ("function_call_arguments", "arguments"),
                _ => ("custom_tool_call_input", "input"),
            };
            begun["status"] = json!("in_progress");
            begun[field] = json!("");
            at("output_item.added", json!({"item": begun}));
            let text = item[field].as_str().unwrap_or_default();
            for delta in pieces(text, size) {
                at(&format!("{name}.delta"), json!({"delta": delta}));
            }
            at(
                &format!("{name}.done"),
                json!({field: text, "name": item["name"]}),
            );
        }
        _ => at("output_item.added", json!({"item": begun})),
    }
    at("output_item.done", json!({"item": item}));
}
