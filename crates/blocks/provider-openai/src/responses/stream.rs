use std::{borrow::Cow, collections::VecDeque, mem};

use neuron_provider_http::{Assemble, NoAnswer, Progress, WireEvent, lenient};
use neuron_types::{CompletionResponse, StreamEvent, read_json};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    failure,
    responses::answer::Answer,
    responses::calls::{Calls, is_call},
    responses::drafts::Drafts,
    responses::merge::{Came, is_hollow, merge, text_of},
};

/// Puts the response together that a stream hands out in pieces.
///
/// The last event holds the response. Items that it lacks are those that were done before, and of those that never were done
/// what came of them.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    done: Vec<Came>,
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
    #[serde(default)]
    delta: Value,
    /// The whole of what came in deltas.
    #[serde(default, alias = "refusal", alias = "arguments", alias = "input")]
    text: Value,
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
                self.say(&told, &kind, told.delta.as_str(), seen);
            }
            "response.output_text.done" | "response.refusal.done" => {
                let part = part_of(&told, &kind);
                let is_told = self.drafts.has_part(told.output_index, &told.item_id, part);
                let text = told.text.as_str().filter(|text| !text.is_empty());
                self.say(&told, &kind, text.filter(|_| !is_told), seen);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let delta = told.delta.as_str().unwrap_or_default().to_owned();
                seen.push_back(StreamEvent::ThinkingDelta(delta));
            }
            // The parts of a summary are paragraphs.
            "response.reasoning_summary_part.added" if told.summary_index > 0 => {
                seen.push_back(StreamEvent::ThinkingDelta("\n\n".to_owned()));
            }
            "response.output_item.added" if is_call(&told.item) => {
                self.calls.start(told.output_index, &told.item, seen)?;
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let delta = json_text(&told.delta);
                self.calls
                    .append(told.output_index, &told.item_id, &delta, seen);
            }
            "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
                let whole = json_text(&told.text);
                self.calls
                    .fill(told.output_index, &told.item_id, &whole, seen);
            }
            "response.output_item.done" => {
                let mut item = told.item;
                if is_call(&item) {
                    self.calls.end(told.output_index, &mut item, seen)?;
                } else if item.get("type").is_some_and(|kind| kind == "message") {
                    let id = item.get("id").and_then(Value::as_str);
                    let id = id.unwrap_or_default();
                    if is_hollow(&item) && self.drafts.has(told.output_index, id) {
                        return Ok(Progress::More);
                    }
                    self.drafts.end(told.output_index, id, &text_of(&item));
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
    /// Takes more text of a message.
    fn say(
        &mut self,
        told: &Event,
        kind: &str,
        text: Option<&str>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        let Some(text) = text else { return };
        let part = part_of(told, kind);
        self.drafts
            .append(told.output_index, &told.item_id, part, text);
        seen.push_back(StreamEvent::TextDelta(text.to_owned()));
    }

    fn complete(
        &mut self,
        mut response: Value,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        self.calls.end_all(seen);
        if let Value::Object(fields) = &mut response {
            let listed = match fields.remove("output") {
                Some(Value::Array(listed)) => listed,
                _ => Vec::new(),
            };
            let mut items = merge(listed, self.items());
            self.calls.name(&mut items, seen)?;
            fields.insert("output".to_owned(), Value::Array(items));
        }
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

    /// Returns the items as far as they came, in the order of their places.
    fn items(&mut self) -> Vec<Came> {
        let mut items = mem::take(&mut self.done);
        items.extend(self.drafts.items());
        items.extend(self.calls.undone());
        items.sort_by_key(|(place, _)| place.unwrap_or(u64::MAX));
        items
    }
}

/// Returns the part of a message that an event is of, and whether it is a `refusal`.
fn part_of(told: &Event, kind: &str) -> (u64, bool) {
    (told.content_index, kind.starts_with("response.refusal"))
}

/// Arguments as a server writes them: JSON in a text, or as it is.
fn json_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

fn failed(body: &Value) -> NoAnswer {
    NoAnswer::Failed(failure::read_event(body))
}
