use std::collections::VecDeque;

use neuron_types::StreamEvent;
use serde_json::{Map, Value};
use uuid::Uuid;

/// The calls of a message that come in fragments.
///
/// A fragment belongs to the call of its `index`. Servers leave that out, or give every call the same one, so
/// an id and a name count too.
#[derive(Debug, Default)]
pub(crate) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    fields: Map<String, Value>,
    /// The id that was told with the start, once the name was known.
    started: Option<String>,
    ended: bool,
}

impl Calls {
    /// Takes a fragment that stands at `position` of its list.
    pub(crate) fn take(
        &mut self,
        position: usize,
        fragment: Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        let place = self.place(position, &fragment).unwrap_or_else(|| {
            self.0.push(Call {
                index: fragment.get("index").and_then(Value::as_u64),
                fields: Map::new(),
                started: None,
                ended: false,
            });
            self.0.len() - 1
        });
        if let Some(call) = self.0.get_mut(place) {
            call.take(fragment, seen);
        }
    }

    /// The call that a fragment goes on with; `None` if it begins one.
    fn place(&self, position: usize, fragment: &Map<String, Value>) -> Option<usize> {
        let id = text(fragment, "id");
        let same_id = |call: &Call| id.is_none_or(|id| call.id().is_none_or(|known| known == id));
        if let Some(index) = fragment.get("index").and_then(Value::as_u64) {
            return self
                .0
                .iter()
                .rposition(|call| call.index == Some(index) && same_id(call));
        }
        if let Some(id) = id {
            return self.0.iter().position(|call| call.id() == Some(id));
        }
        if name(fragment).is_some() {
            return None;
        }
        (position < self.0.len()).then(|| self.0.len() - 1)
    }

    /// Says that no fragment follows.
    pub(crate) fn end(&mut self, seen: &mut VecDeque<StreamEvent>) {
        for call in &mut self.0 {
            if let (Some(id), false) = (&call.started, call.ended) {
                call.ended = true;
                seen.push_back(StreamEvent::ToolUseEnd { id: id.clone() });
            }
        }
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        let calls = self.0.into_iter();
        calls.map(|call| Value::Object(call.fields)).collect()
    }
}

impl Call {
    fn id(&self) -> Option<&str> {
        text(&self.fields, "id")
    }

    fn take(&mut self, fragment: Map<String, Value>, seen: &mut VecDeque<StreamEvent>) {
        let mut more = String::new();
        for (key, value) in fragment {
            match (key.as_str(), value) {
                ("index", _) | (_, Value::Null) => {}
                ("id" | "type", Value::String(text)) => set_once(&mut self.fields, &key, text),
                ("function" | "custom", Value::Object(part)) => {
                    let known = self
                        .fields
                        .entry(key)
                        .or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(known) = known {
                        merge(known, part, &mut more);
                    }
                }
                (_, value) => {
                    self.fields.insert(key, value);
                }
            }
        }
        if self.started.is_none() {
            let Some(name) = name(&self.fields).map(str::to_owned) else {
                return;
            };
            let id = self.id().map_or_else(made_up, str::to_owned);
            self.fields
                .insert("id".to_owned(), Value::String(id.clone()));
            self.started = Some(id.clone());
            seen.push_back(StreamEvent::ToolUseStart { id, name });
            more = arguments(&self.fields).unwrap_or_default().to_owned();
        }
        if let (Some(id), false) = (&self.started, more.is_empty()) {
            let id = id.clone();
            seen.push_back(StreamEvent::ToolUseInputDelta { id, delta: more });
        }
    }
}

fn made_up() -> String {
    format!("call_{}", Uuid::new_v4().simple())
}

/// Merges what a fragment says of the function. `more` gets the new letters of the arguments.
fn merge(known: &mut Map<String, Value>, part: Map<String, Value>, more: &mut String) {
    for (key, value) in part {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("name", Value::String(name)) => set_once(known, &key, name),
            ("arguments" | "input", Value::String(text)) => {
                more.push_str(&text);
                match known.get_mut(&key) {
                    Some(Value::String(before)) => before.push_str(&text),
                    _ => {
                        known.insert(key, Value::String(text));
                    }
                }
            }
            (_, value) => {
                known.insert(key, value);
            }
        }
    }
}

/// The first that is not empty counts: servers repeat it in every fragment.
fn set_once(fields: &mut Map<String, Value>, key: &str, value: String) {
    if text(fields, key).is_none() {
        fields.insert(key.to_owned(), Value::String(value));
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let text = fields.get(key)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

fn name(call: &Map<String, Value>) -> Option<&str> {
    let part = call.get("function").or_else(|| call.get("custom"))?;
    text(part.as_object()?, "name")
}

fn arguments(call: &Map<String, Value>) -> Option<&str> {
    let function = call.get("function").and_then(|part| part.get("arguments"));
    let custom = || call.get("custom").and_then(|part| part.get("input"));
    function.or_else(custom)?.as_str()
}
