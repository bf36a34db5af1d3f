use std::{collections::VecDeque, mem};

use neuron_provider_http::{Assemble, NoAnswer, Progress, WireEvent, lenient};
use neuron_types::{CompletionResponse, StreamEvent, read_json};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    failure,
    responses::answer::Answer,
    responses::calls::{Calls, is_call},
    responses::drafts::Drafts,
};

/// Puts the response together that a stream hands out in pieces.
///
/// The last event holds the response. Where it holds no items, those that were done before count, and of those that never
/// were done what came of them.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    done: Vec<(Option<u64>, Value)>,
    drafts: Drafts,
    calls: Calls,
    end: Option<Result<CompletionResponse, NoAnswer>>,
}

/// What a `data` line holds. Everything may be missing.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default, rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(default, deserialize_with = "lenient")]
    output_index: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    content_index: u64,
    #[serde(default, deserialize_with = "lenient")]
    summary_index: u64,
    #[serde(default, deserialize_with = "lenient")]
    item_id: String,
    #[serde(default, deserialize_with = "lenient")]
    item: Map<String, Value>,
    #[serde(default, deserialize_with = "lenient")]
    delta: String,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    error: Value,
}

impl Assemble for Assembler {
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        // This wire has no such end, and servers that add one mean nothing by it.
        if event.data.trim_ascii() == b"[DONE]" {
            return Ok(Progress::More);
        }
        let told: Event = read_json(event.data)?;
        let kind = if told.kind.is_empty() {
            event.name.to_owned()
        } else {
            told.kind.clone()
        };
        match kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                let part = (told.content_index, kind == "response.refusal.delta");
                self.drafts
                    .append(told.output_index, &told.item_id, part, &told.delta);
                seen.push_back(StreamEvent::TextDelta(told.delta));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                seen.push_back(StreamEvent::ThinkingDelta(told.delta));
            }
            // The parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if told.summary_index > 0 => {
                seen.push_back(StreamEvent::ThinkingDelta("\n\n".to_owned()));
            }
            "response.output_item.added" if is_call(&told.item) => {
                self.calls.start(told.output_index, &told.item, seen);
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                self.calls
                    .append(told.output_index, &told.item_id, &told.delta, seen);
            }
            "response.output_item.done" => {
                let mut item = told.item;
                if is_call(&item) {
                    self.calls.end(told.output_index, &mut item, seen);
                } else {
                    let id = item.get("id").and_then(Value::as_str);
                    let id = id.unwrap_or_default();
                    if is_hollow(&item) && self.drafts.has(told.output_index, id) {
                        return Ok(Progress::More);
                    }
                    self.drafts.end(told.output_index, id);
                }
                self.done.push((told.output_index, Value::Object(item)));
            }
            "response.completed" | "response.incomplete" => {
                return self.complete(told.response, seen);
            }
            "response.failed" | "response.cancelled" => return Err(failed(&told.response)),
            _ if kind == "error" || told.error.is_object() || told.error.is_string() => {
                let body: Value = read_json(event.data)?;
                return Err(failed(&body));
            }
            _ => {}
        }
        Ok(Progress::More)
    }

    fn finish(&mut self) -> Result<CompletionResponse, NoAnswer> {
        self.end.take().unwrap_or(Err(NoAnswer::Absent))
    }
}

impl Assembler {
    fn complete(
        &mut self,
        mut response: Value,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        if let Value::Object(fields) = &mut response {
            let output = fields.entry("output").or_insert(Value::Null);
            if output.as_array().is_none_or(Vec::is_empty) {
                *output = self.items();
            }
            if let Value::Array(items) = output {
                self.calls.name(items);
            }
        }
        self.calls.end_all(seen);
        let failure = failed(&response);
        let answer: Answer = serde_json::from_value(response)?;
        seen.push_back(StreamEvent::Usage(answer.usage()));
        let end = answer.into_response();
        self.end = Some(end.map_err(|fault| match fault {
            NoAnswer::Absent => failure,
            fault => fault,
        }));
        Ok(Progress::Complete)
    }

    /// The items as far as they came, in the order of their places.
    fn items(&mut self) -> Value {
        let mut items = mem::take(&mut self.done);
        items.extend(self.drafts.items());
        items.extend(self.calls.undone());
        items.sort_by_key(|(place, _)| place.unwrap_or(u64::MAX));
        items.into_iter().map(|(_, item)| item).collect()
    }
}

fn failed(body: &Value) -> NoAnswer {
    NoAnswer::Failed(failure::read_event(body))
}

/// Whether a message holds no text: servers end items of which only the deltas say anything.
fn is_hollow(item: &Map<String, Value>) -> bool {
    let text = |part: &Value| {
        let text = part.get("text").or_else(|| part.get("refusal"));
        text.and_then(Value::as_str).map(str::len)
    };
    let parts = item.get("content").and_then(Value::as_array);
    let is_message = item.get("type").is_some_and(|kind| kind == "message");
    is_message && parts.is_none_or(|parts| parts.iter().all(|part| text(part) == Some(0)))
}
