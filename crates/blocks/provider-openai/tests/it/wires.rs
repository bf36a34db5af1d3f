//! Both APIs, and how each cuts an answer into the events of a stream.

use futures::StreamExt as _;
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, ProviderError, StreamEvent,
};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{conversations::hello, fake_api::FakeApi};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Chat,
    Responses,
}

pub(crate) const WIRES: [Wire; 2] = [Wire::Chat, Wire::Responses];

/// The pieces of at most `size` characters that a text comes in.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(String::from_iter).collect()
}

impl Wire {
    pub(crate) fn client(self, api: &FakeApi) -> Box<dyn DynProvider> {
        match self {
            Self::Chat => Box::new(api.chat().build().unwrap()),
            Self::Responses => Box::new(api.responses().build().unwrap()),
        }
    }

    /// The body of a stream that hands this answer out in pieces of `size` characters.
    pub(crate) fn stream_of(self, answer: &Value, size: usize) -> String {
        match self {
            Self::Chat => chat_stream(answer, size),
            Self::Responses => responses_stream(answer, size),
        }
    }
}

pub(crate) fn lines(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| match event["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        })
        .collect()
}

fn chat_stream(answer: &Value, size: usize) -> String {
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
    format!("{}data: [DONE]\n\n", lines(&events))
}

fn responses_stream(answer: &Value, size: usize) -> String {
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
    lines(&events)
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

/// What a stream handed out, and how it ended.
#[derive(Debug)]
pub(crate) struct Streamed {
    pub(crate) seen: Vec<StreamEvent>,
    pub(crate) end: Result<CompletionResponse, ProviderError>,
}

impl Streamed {
    pub(crate) fn text(&self) -> String {
        let texts = self.seen.iter().filter_map(|event| match event {
            StreamEvent::TextDelta(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn thinking(&self) -> String {
        let texts = self.seen.iter().filter_map(|event| match event {
            StreamEvent::ThinkingDelta(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Each call's id, name and arguments, if it was told from start to end.
    pub(crate) fn calls(&self) -> Vec<(String, String, String)> {
        let mut calls: Vec<(String, String, String)> = Vec::new();
        let mut ended = 0;
        for event in &self.seen {
            match event {
                StreamEvent::ToolUseStart { id, name } => {
                    assert!(calls.iter().all(|call| call.0 != *id), "{id} starts twice");
                    calls.push((id.clone(), name.clone(), String::new()));
                }
                StreamEvent::ToolUseInputDelta { id, delta } => {
                    calls.iter_mut().find(|call| call.0 == *id).unwrap().2 += delta;
                }
                StreamEvent::ToolUseEnd { id } => {
                    assert!(calls.iter().any(|call| call.0 == *id), "{id} never started");
                    ended += 1;
                }
                _ => {}
            }
        }
        assert_eq!(ended, calls.len(), "{:?}", self.seen);
        calls
    }
}

pub(crate) async fn read(client: &dyn DynProvider, request: &CompletionRequest) -> Streamed {
    let mut events = client.complete_stream_dyn(request).await.unwrap().receiver;
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let end = match event {
            StreamEvent::MessageComplete(response) => Ok(*response),
            StreamEvent::Error(error) => Err(error),
            other => {
                seen.push(other);
                continue;
            }
        };
        assert!(events.next().await.is_none(), "something follows the end");
        return Streamed { seen, end };
    }
    panic!("the stream ended without an end: {seen:?}");
}

pub(crate) fn event_stream(body: impl Into<Vec<u8>>) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}

/// What the client makes of a stream of this body.
pub(crate) async fn streamed(wire: Wire, body: impl Into<Vec<u8>>) -> Streamed {
    let api = FakeApi::answering(event_stream(body)).await;
    read(&*wire.client(&api), &hello()).await
}

/// What the client makes of this answer without a stream.
pub(crate) async fn whole(wire: Wire, answer: &Value) -> CompletionResponse {
    let api = FakeApi::with_body(answer).await;
    let client = wire.client(&api);
    client.complete_dyn(&hello()).await.unwrap()
}
