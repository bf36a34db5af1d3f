//! The answers of `wire` as the API streams them.

use neuron_wires::{Api, pieces};
use serde_json::{Map, Value, json};

use crate::messages::Messages;

/// The same message as a stream, its texts in pieces of so many characters.
pub(crate) fn streamed(message: &Value, piece: usize) -> String {
    events(message, piece).concat() + Messages::MARKER
}

/// The same without the event that ends it.
pub(crate) fn events(message: &Value, piece: usize) -> Vec<String> {
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
    events.push(end);
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
                        .into_iter()
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
    deltas.extend(
        pieces(&text, piece)
            .into_iter()
            .map(|part| json!({"type": kind, name: part})),
    );
}
