use std::collections::VecDeque;

use neuron_provider_http::{Calls as Fragments, Fragment};
use neuron_types::StreamEvent;
use serde_json::{Map, Value, json};

use crate::responses::item::CUSTOM_CALL;

/// The calls of a response that is coming in, by the items that they are.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Fragments,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    output_index: Option<u64>,
    fields: Map<String, Value>,
    place: usize,
    is_done: bool,
}

pub(crate) fn is_call(item: &Map<String, Value>) -> bool {
    let kind = item.get("type").and_then(Value::as_str);
    matches!(kind, Some("function_call" | CUSTOM_CALL)) && text(item, "name").is_some()
}

impl Calls {
    pub(crate) fn start(
        &mut self,
        output_index: Option<u64>,
        item: &Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        let known = self.find(output_index, text(item, "id"));
        if known.is_some_and(|known| known.is_begun_by(item)) {
            return;
        }
        let fragment = Fragment {
            // The place among the calls. That of the output need not be another for each.
            index: Some(self.items.len() as u64),
            id: text(item, "call_id").map(str::to_owned),
            name: text(item, "name").map(str::to_owned),
            ..Fragment::default()
        };
        let place = self.calls.take(0, fragment, seen);
        self.items.push(Item {
            output_index,
            fields: item.clone(),
            place,
            is_done: false,
        });
    }

    pub(crate) fn append(
        &mut self,
        output_index: Option<u64>,
        item_id: &str,
        delta: &str,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        let item_id = Some(item_id).filter(|id| !id.is_empty());
        if let Some(place) = self.find(output_index, item_id).map(|item| item.place) {
            self.calls.grow(place, delta, seen);
        }
    }

    /// Takes the item that is done, which may be the first that is heard of it. Arguments that it lacks are those that came
    /// before it.
    pub(crate) fn end(
        &mut self,
        output_index: Option<u64>,
        item: &mut Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        self.start(output_index, item, seen);
        let Some(known) = self.find(output_index, text(item, "id")) else {
            return;
        };
        known.is_done = true;
        let place = known.place;
        let field = arguments_of(item);
        let arguments = self.calls.arguments_at(place);
        let is_unsaid = item
            .get(field)
            .is_none_or(|said| said.is_null() || said == "");
        if arguments.is_empty() {
            let whole = text(item, field).unwrap_or_default();
            self.calls.grow(place, whole, seen);
        } else if is_unsaid {
            item.insert(field.to_owned(), json!(arguments));
        }
        self.calls.end_one(place, seen);
    }

    /// Says that no more comes of any call.
    pub(crate) fn end_all(&mut self, seen: &mut VecDeque<StreamEvent>) {
        self.calls.end(seen);
    }

    /// The newest item of this id, or of this place where one of them has no id.
    fn find(&mut self, output_index: Option<u64>, item_id: Option<&str>) -> Option<&mut Item> {
        self.items
            .iter_mut()
            .rev()
            .find(|item| match (text(&item.fields, "id"), item_id) {
                (Some(known), Some(id)) if known == id => true,
                (Some(_), Some(_)) => false,
                _ => output_index.is_some() && item.output_index == output_index,
            })
    }

    /// Gives calls that have no id the one that was told of them.
    pub(crate) fn name(&self, output: &mut [Value]) {
        let told = self.items.iter();
        let told = told.map(|item| (item, self.calls.id_at(item.place)));
        let mut told: Vec<_> = told.filter_map(|(item, id)| Some((item, id?))).collect();
        for item in output.iter_mut().filter_map(Value::as_object_mut) {
            if !is_call(item) {
                continue;
            }
            let same = |(known, _): &(&Item, &str)| known.is_begun_by(item);
            let Some(place) = told.iter().position(same) else {
                continue;
            };
            let (_, id) = told.remove(place);
            if text(item, "call_id").is_none() {
                item.insert("call_id".to_owned(), json!(id));
            }
        }
    }

    /// The calls whose items were never done, each with its place.
    pub(crate) fn undone(&self) -> impl Iterator<Item = (Option<u64>, Value)> {
        let open = self.items.iter().filter(|item| !item.is_done);
        open.map(|item| {
            let mut fields = item.fields.clone();
            let field = arguments_of(&fields);
            let arguments = self.calls.arguments_at(item.place);
            fields.insert(field.to_owned(), json!(arguments));
            if let Some(id) = self.calls.id_at(item.place) {
                fields.insert("call_id".to_owned(), json!(id));
            }
            (item.output_index, Value::Object(fields))
        })
    }
}

impl Item {
    /// Whether this is the item of a call, as far as ids and names tell.
    fn is_begun_by(&self, item: &Map<String, Value>) -> bool {
        let same = |name| match (text(&self.fields, name), text(item, name)) {
            (Some(known), Some(said)) => known == said,
            _ => true,
        };
        same("id") && same("call_id") && same("name")
    }
}

/// The field that holds a call's arguments.
fn arguments_of(item: &Map<String, Value>) -> &'static str {
    match text(item, "type") {
        Some(CUSTOM_CALL) => "input",
        _ => "arguments",
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let text = fields.get(key)?.as_str()?;
    (!text.is_empty()).then_some(text)
}
