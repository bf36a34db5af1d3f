use std::collections::{BTreeMap, VecDeque};

use neuron_provider_http::{Assemble, Progress, StreamFault, WireEvent, lenient};
use neuron_types::{CompletionResponse, StreamEvent};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    failure,
    responses::answer::Answer,
    responses::calls::{Calls, is_call},
};

/// Puts the response together that a stream hands out in pieces.
///
/// The last event holds the response; the items that were done before count only where it holds none.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    request_id: Option<String>,
    done: BTreeMap<u64, Value>,
    calls: Calls,
    response: Option<CompletionResponse>,
}

/// What a `data` line holds. Everything may be missing.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default, rename = "type", deserialize_with = "lenient")]
    kind: String,
    output_index: Option<u64>,
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
    ) -> Result<Progress, StreamFault> {
        // This wire has no such end, and servers that add one mean nothing by it.
        if event.data.trim_ascii() == b"[DONE]" {
            return Ok(Progress::More);
        }
        let told: Event = serde_json::from_slice(event.data)?;
        let kind = if told.kind.is_empty() {
            event.name.to_owned()
        } else {
            told.kind.clone()
        };
        match kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
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
                    .append(told.output_index, &told.item_id, told.delta, seen);
            }
            "response.output_item.done" => {
                if is_call(&told.item) {
                    self.calls.end(told.output_index, &told.item, seen);
                }
                let index = told.output_index.unwrap_or(self.done.len() as u64);
                self.done.insert(index, Value::Object(told.item));
            }
            "response.completed" | "response.incomplete" => {
                return self.complete(told.response, seen);
            }
            "response.failed" | "response.cancelled" => return Err(self.failed(&told.response)),
            _ if kind == "error" || told.error.is_object() || told.error.is_string() => {
                let body: Value = serde_json::from_slice(event.data)?;
                return Err(self.failed(&body));
            }
            _ => {}
        }
        Ok(Progress::More)
    }

    fn finish(&mut self) -> Option<CompletionResponse> {
        self.response.take()
    }
}

impl Assembler {
    pub(crate) fn new(request_id: Option<String>) -> Self {
        Self {
            request_id,
            ..Self::default()
        }
    }

    fn complete(
        &mut self,
        mut response: Value,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, StreamFault> {
        if let Value::Object(fields) = &mut response {
            let output = fields.entry("output").or_insert(Value::Null);
            if output.as_array().is_none_or(Vec::is_empty) {
                *output = std::mem::take(&mut self.done).into_values().collect();
            }
            if let Value::Array(items) = output {
                self.calls.name(items);
            }
        }
        let failure = self.failed(&response);
        let answer: Answer = serde_json::from_value(response)?;
        let response = answer.into_response().ok_or(failure)?;
        seen.push_back(StreamEvent::Usage(response.usage.clone()));
        self.response = Some(response);
        Ok(Progress::Complete)
    }

    fn failed(&self, body: &Value) -> StreamFault {
        StreamFault::Failed(failure::read_event(body, self.request_id.clone()))
    }
}
