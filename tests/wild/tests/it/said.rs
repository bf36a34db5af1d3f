//! An answer as each wire writes it.

use neuron_types::StopReason;
use serde_json::{Map, Value, json};

use crate::{
    decoded::{line_ends, with_keep_alives},
    outcome::{Answered, Call},
    wire::Wire,
};

/// What an answer says, and how a server writes it.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) thinking: String,
    pub(crate) calls: Vec<(String, Map<String, Value>)>,
    pub(crate) tokens: (u64, u64),
    /// How many letters a piece has.
    pub(crate) piece: usize,
    /// Letters that are no ASCII are escapes.
    pub(crate) escapes: bool,
    /// What the ids of calls begin with, if they have any.
    pub(crate) ids: Option<String>,
    /// Which of the ends of lines and of the keep-alives.
    pub(crate) ends: usize,
    pub(crate) keep_alive: usize,
    /// How many bytes come at once.
    pub(crate) chunk: usize,
}

impl Said {
    pub(crate) fn answered(&self, wire: Wire) -> Answered {
        let calls = self.calls.iter().map(|(name, input)| Call {
            name: name.clone(),
            input: Value::Object(input.clone()),
            extra: Map::new(),
        });
        Answered {
            text: self.text.clone(),
            // The reasoning of Responses is kept as it came.
            thinking: match wire {
                Wire::Responses => String::new(),
                _ => self.thinking.clone(),
            },
            calls: calls.collect(),
            stop: match self.calls.is_empty() {
                true => StopReason::EndTurn,
                false => StopReason::ToolUse,
            },
            input_tokens: self.tokens.0,
            output_tokens: self.tokens.1,
        }
    }

    fn pieces(&self, text: &str) -> Vec<String> {
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(self.piece);
        pieces.map(|piece| piece.iter().collect()).collect()
    }

    fn id(&self, place: usize) -> Value {
        match &self.ids {
            Some(prefix) => json!(format!("{prefix}_{place}")),
            None => Value::Null,
        }
    }

    pub(crate) fn whole(&self, wire: Wire) -> Vec<u8> {
        let body = match wire {
            Wire::Chat => chat::whole(self),
            Wire::Responses => responses::whole(self),
            Wire::Anthropic => anthropic::whole(self),
            Wire::Ollama => ollama::whole(self),
        };
        self.letters(&body.to_string()).into_bytes()
    }

    pub(crate) fn streamed(&self, wire: Wire) -> Vec<u8> {
        let events = match wire {
            Wire::Chat => chat::events(self),
            Wire::Responses => responses::events(self),
            Wire::Anthropic => anthropic::events(self),
            Wire::Ollama => ollama::events(self),
        };
        let lines = events.iter().flat_map(|event| wire.event(event));
        let mut body: String = lines.map(|line| self.letters(&line) + "\n").collect();
        if wire == Wire::Chat {
            body.push_str("data: [DONE]\n\n");
        }
        let mut body = body.into_bytes();
        if let Some(keep_alive) = wire.keep_alives().get(self.keep_alive) {
            body = with_keep_alives(wire, &body, keep_alive.as_bytes());
        }
        let mut bodies = line_ends(wire, &body);
        let ends = self.ends % bodies.len();
        bodies.swap_remove(ends).1
    }

    /// JSON as this server writes letters.
    fn letters(&self, json: &str) -> String {
        if !self.escapes {
            return json.to_owned();
        }
        let mut escaped = String::new();
        for letter in json.chars() {
            if letter.is_ascii() {
                escaped.push(letter);
                continue;
            }
            for unit in letter.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
        escaped
    }
}

mod chat {
    use super::*;

    fn usage((input, output): (u64, u64)) -> Value {
        json!({"prompt_tokens": input, "completion_tokens": output})
    }

    fn end(said: &Said) -> &'static str {
        match said.calls.is_empty() {
            true => "stop",
            false => "tool_calls",
        }
    }

    fn call(said: &Said, place: usize, arguments: &str) -> Value {
        let name = &said.calls[place].0;
        json!({"id": said.id(place), "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    pub(super) fn whole(said: &Said) -> Value {
        let calls = said.calls.iter().enumerate();
        let calls = calls.map(|(place, (_, input))| call(said, place, &json!(input).to_string()));
        json!({
            "choices": [{
                "index": 0,
                "finish_reason": end(said),
                "message": {
                    "role": "assistant",
                    "content": said.text,
                    "reasoning_content": said.thinking,
                    "tool_calls": calls.collect::<Vec<_>>(),
                },
            }],
            "usage": usage(said.tokens),
        })
    }

    pub(super) fn events(said: &Said) -> Vec<Value> {
        let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
        let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
        for piece in said.pieces(&said.thinking) {
            events.push(delta(json!({"reasoning_content": piece})));
        }
        for piece in said.pieces(&said.text) {
            events.push(delta(json!({"content": piece})));
        }
        for (place, (_, input)) in said.calls.iter().enumerate() {
            let mut call = call(said, place, "");
            call["index"] = json!(place);
            events.push(delta(json!({"tool_calls": [call]})));
            for piece in said.pieces(&json!(input).to_string()) {
                let call = json!({"index": place, "function": {"arguments": piece}});
                events.push(delta(json!({"tool_calls": [call]})));
            }
        }
        events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": end(said)}]}));
        events.push(json!({"choices": [], "usage": usage(said.tokens)}));
        events
    }
}

mod responses {
    use super::*;

    fn items(said: &Said) -> Vec<Value> {
        let mut items = vec![json!({
            "type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": said.thinking}],
        })];
        if !said.text.is_empty() {
            items.push(json!({
                "type": "message", "id": "msg", "role": "assistant",
                "content": [{"type": "output_text", "text": said.text, "annotations": []}],
            }));
        }
        for (place, (name, input)) in said.calls.iter().enumerate() {
            let arguments = json!(input).to_string();
            items.push(json!({
                "type": "function_call", "id": format!("fc_{place}"), "call_id": said.id(place), "name": name,
                "arguments": arguments,
            }));
        }
        items
    }

    pub(super) fn whole(said: &Said) -> Value {
        let (input, output) = said.tokens;
        json!({
            "id": "resp", "status": "completed", "output": items(said),
            "usage": {"input_tokens": input, "output_tokens": output},
        })
    }

    pub(super) fn events(said: &Said) -> Vec<Value> {
        let mut events =
            vec![json!({"type": "response.created", "response": {"status": "in_progress"}})];
        for (place, item) in items(said).into_iter().enumerate() {
            let id = item["id"].clone();
            let (kind, text, field) = match item["type"].as_str() {
                Some("reasoning") => (
                    "response.reasoning_summary_text.delta",
                    said.thinking.clone(),
                    "summary",
                ),
                Some("message") => ("response.output_text.delta", said.text.clone(), "content"),
                _ => (
                    "response.function_call_arguments.delta",
                    item["arguments"].as_str().unwrap().to_owned(),
                    "arguments",
                ),
            };
            let mut begun = item.clone();
            begun[field] = match field {
                "arguments" => json!(""),
                _ => json!([]),
            };
            events.push(
                json!({"type": "response.output_item.added", "output_index": place, "item": begun}),
            );
            for piece in said.pieces(&text) {
                events.push(
                    json!({"type": kind, "output_index": place, "item_id": id, "delta": piece}),
                );
            }
            events.push(
                json!({"type": "response.output_item.done", "output_index": place, "item": item}),
            );
        }
        let mut response = whole(said);
        // Not all servers repeat the items.
        if said.ends == 0 {
            response["output"] = json!([]);
        }
        events.push(json!({"type": "response.completed", "response": response}));
        events
    }
}

mod anthropic {
    use super::*;

    fn blocks(said: &Said) -> Vec<Value> {
        let mut blocks = Vec::new();
        if !said.thinking.is_empty() {
            blocks.push(json!({"type": "thinking", "thinking": said.thinking, "signature": "sig"}));
        }
        if !said.text.is_empty() {
            blocks.push(json!({"type": "text", "text": said.text}));
        }
        for (place, (name, input)) in said.calls.iter().enumerate() {
            blocks.push(
                json!({"type": "tool_use", "id": said.id(place), "name": name, "input": input}),
            );
        }
        blocks
    }

    fn end(said: &Said) -> &'static str {
        match said.calls.is_empty() {
            true => "end_turn",
            false => "tool_use",
        }
    }

    pub(super) fn whole(said: &Said) -> Value {
        let (input, output) = said.tokens;
        json!({
            "type": "message", "role": "assistant", "content": blocks(said), "stop_reason": end(said),
            "usage": {"input_tokens": input, "output_tokens": output},
        })
    }

    pub(super) fn events(said: &Said) -> Vec<Value> {
        let (input, output) = said.tokens;
        let mut message = whole(said);
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        message["usage"] = json!({"input_tokens": input, "output_tokens": 1});
        let mut events = vec![json!({"type": "message_start", "message": message})];
        for (place, block) in blocks(said).into_iter().enumerate() {
            let mut begun = block.clone();
            let (kind, field, text) = match block["type"].as_str() {
                Some("thinking") => ("thinking_delta", "thinking", said.thinking.clone()),
                Some("text") => ("text_delta", "text", said.text.clone()),
                _ => (
                    "input_json_delta",
                    "partial_json",
                    block["input"].to_string(),
                ),
            };
            match field {
                "partial_json" => begun["input"] = json!({}),
                field => begun[field] = json!(""),
            }
            events.push(
                json!({"type": "content_block_start", "index": place, "content_block": begun}),
            );
            for piece in said.pieces(&text) {
                let delta = json!({"type": kind, field: piece});
                events.push(json!({"type": "content_block_delta", "index": place, "delta": delta}));
            }
            events.push(json!({"type": "content_block_stop", "index": place}));
        }
        events.push(json!({
            "type": "message_delta", "delta": {"stop_reason": end(said)}, "usage": {"output_tokens": output},
        }));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

mod ollama {
    use super::*;

    fn calls(said: &Said) -> Vec<Value> {
        let calls = said.calls.iter().enumerate();
        let call = |(place, (name, input)): (usize, &(String, Map<String, Value>))| {
            let function = json!({"name": name, "arguments": input});
            json!({"id": said.id(place), "function": function})
        };
        calls.map(call).collect()
    }

    fn end(said: &Said, message: &Value) -> Value {
        let (input, output) = said.tokens;
        json!({
            "model": "m", "message": message, "done": true, "done_reason": "stop", "prompt_eval_count": input,
            "eval_count": output,
        })
    }

    pub(super) fn whole(said: &Said) -> Value {
        end(
            said,
            &json!({
                "role": "assistant", "content": said.text, "thinking": said.thinking, "tool_calls": calls(said),
            }),
        )
    }

    pub(super) fn events(said: &Said) -> Vec<Value> {
        let line = |message: Value| json!({"model": "m", "message": message, "done": false});
        let mut lines = Vec::new();
        for piece in said.pieces(&said.thinking) {
            lines.push(line(
                json!({"role": "assistant", "content": "", "thinking": piece}),
            ));
        }
        for piece in said.pieces(&said.text) {
            lines.push(line(json!({"role": "assistant", "content": piece})));
        }
        for call in calls(said) {
            lines.push(line(
                json!({"role": "assistant", "content": "", "tool_calls": [call]}),
            ));
        }
        lines.push(end(said, &json!({"role": "assistant", "content": ""})));
        lines
    }
}
