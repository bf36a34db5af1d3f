use std::collections::{HashMap, HashSet, VecDeque};

use neuron_provider_http::{ApiFailure, Calls as Fragments, Fragment, stray_arguments};
use neuron_types::StreamEvent;
use serde_json::{Map, Value, json};

use crate::responses::item::CUSTOM_CALL;

/// The calls of a response that is coming in, by the items that they are.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Fragments,
    items: Vec<Item>,
    ids: HashMap<String, usize>,
    indexes: HashMap<u64, usize>,
    /// Arguments that came while there was no call.
    stray: String,
}

#[derive(Debug)]
struct Item {
    fields: Map<String, Value>,
    output_index: Option<u64>,
    place: usize,
    is_done: bool,
}

pub(crate) fn is_call(item: &Map<String, Value>) -> bool {
    has_type_of_call(item) && text(item, "name").is_some()
}

pub(crate) fn has_type_of_call(item: &Map<String, Value>) -> bool {
    matches!(text(item, "type"), Some("function_call" | CUSTOM_CALL))
}

impl Calls {
    /// Takes an item that begins. Returns which of the items it is.
    pub(crate) fn start(
        &mut self,
        output_index: Option<u64>,
        item: &Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<usize, ApiFailure> {
        match self.known(output_index, item) {
            Some(at) => Ok(at),
            None => self.start_new(output_index, item, seen),
        }
    }

    fn start_new(
        &mut self,
        output_index: Option<u64>,
        item: &Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<usize, ApiFailure> {
        let place = self.calls.start(begin(item), seen)?;
        let at = self.items.len();
        self.items.push(Item {
            fields: item.clone(),
            output_index,
            place,
            is_done: false,
        });
        if let Some(id) = text(item, "id") {
            self.ids.insert(id.to_owned(), at);
        }
        if let Some(index) = output_index {
            self.indexes.insert(index, at);
        }
        Ok(at)
    }

    /// Takes more arguments: of the item of this id, or in this place, or of the newest that is not done.
    pub(crate) fn append(
        &mut self,
        output_index: Option<u64>,
        item_id: &str,
        delta: &str,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        match self.loosely(output_index, item_id) {
            Some(place) => self.calls.grow(place, delta, seen),
            None => self.stray.push_str(delta),
        }
    }

    /// Takes the whole arguments where no piece of them came.
    pub(crate) fn fill(
        &mut self,
        output_index: Option<u64>,
        item_id: &str,
        whole: &str,
        seen: &mut VecDeque<StreamEvent>,
    ) {
        match self.loosely(output_index, item_id) {
            Some(place) if !self.calls.arguments_at(place).is_empty() => {}
            _ => self.append(output_index, item_id, whole, seen),
        }
    }

    /// Takes the item that is done, which may be the first that is heard of it. Arguments that it lacks are those that came
    /// before it.
    pub(crate) fn end(
        &mut self,
        output_index: Option<u64>,
        item: &mut Map<String, Value>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ApiFailure> {
        let known = self.known(output_index, item);
        let at = match known.or_else(|| self.ended(output_index, item)) {
            Some(at) => at,
            None => self.start_new(output_index, item, seen)?,
        };
        let Some(known) = self.items.get_mut(at) else {
            return Ok(());
        };
        known.is_done = true;
        let place = known.place;
        let field = arguments_of(item);
        if self.calls.arguments_at(place).is_empty() {
            let whole = text(item, field).or_else(|| text(&known.fields, field));
            self.calls.grow(place, whole.unwrap_or_default(), seen);
        }
        self.calls.end_one(place, seen);
        let is_unsaid = item
            .get(field)
            .is_none_or(|said| said.is_null() || said == "");
        let arguments = self.calls.arguments_at(place);
        if is_unsaid && !arguments.is_empty() {
            item.insert(field.to_owned(), json!(arguments));
        }
        if let Some(told) = self.calls.id_at(place) {
            item.insert("call_id".to_owned(), json!(told));
        }
        Ok(())
    }

    /// Notes that no more comes of any call.
    pub(crate) fn end_all(&mut self, seen: &mut VecDeque<StreamEvent>) {
        self.calls.end(seen);
    }

    /// Returns the item that began, as far as ids and names show.
    fn known(&self, output_index: Option<u64>, item: &Map<String, Value>) -> Option<usize> {
        let known = self.find(output_index, text(item, "id"));
        let at = known.or_else(|| self.renamed(output_index, item))?;
        let known = self.items.get(at)?;
        known.is_begun_by(item).then_some(at)
    }

    /// Returns the newest item of this id, or of this place where one of them has no id.
    fn find(&self, output_index: Option<u64>, item_id: Option<&str>) -> Option<usize> {
        let of_id = item_id.and_then(|id| self.ids.get(id));
        let there = output_index.and_then(|index| self.indexes.get(&index));
        let has_no_id = |at: &&usize| {
            let item = self.items.get(**at);
            item_id.is_none() || item.is_some_and(|item| text(&item.fields, "id").is_none())
        };
        of_id.or(there.filter(has_no_id)).copied()
    }

    /// Returns the open item in this place, if it is that call under another id.
    fn renamed(&self, output_index: Option<u64>, item: &Map<String, Value>) -> Option<usize> {
        let at = *self.indexes.get(&output_index?)?;
        let known = self.items.get(at).filter(|known| !known.is_done)?;
        let id = text(item, "call_id")?;
        (text(&known.fields, "call_id") == Some(id)).then_some(at)
    }

    /// Returns the open item in this place that is done now, under ids that no other item has: servers draw new ones
    /// for it.
    fn ended(&self, output_index: Option<u64>, item: &Map<String, Value>) -> Option<usize> {
        let at = *self.indexes.get(&output_index?)?;
        let known = self.items.get(at).filter(|known| !known.is_done)?;
        let same = |name| text(&known.fields, name) == text(item, name);
        if !same("type") || !same("name") {
            return None;
        }
        let has_its_id = |other: &Item| {
            ["id", "call_id"].into_iter().any(|name| {
                let id = text(item, name);
                id.is_some() && text(&other.fields, name) == id
            })
        };
        let is_another = self.items.iter().any(has_its_id);
        (!is_another).then_some(at)
    }

    /// Returns the place of the call that a piece of arguments is of.
    fn loosely(&self, output_index: Option<u64>, item_id: &str) -> Option<usize> {
        let item_id = Some(item_id).filter(|id| !id.is_empty());
        let there = || self.indexes.get(&output_index?).copied();
        let open = |at: &usize| self.items.get(*at).is_some_and(|item| !item.is_done);
        let newest = || self.items.len().checked_sub(1);
        let at = self.find(output_index, item_id);
        let at = at.or_else(|| there().filter(open));
        let at = at.or_else(|| newest().filter(open))?;
        self.items.get(at).map(|item| item.place)
    }

    /// Gives calls that have no id the one that was emitted for them, and emits those that came with the last event.
    ///
    /// # Errors
    ///
    /// There are arguments that belong to none of them.
    pub(crate) fn name(
        &mut self,
        output: &mut [Value],
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ApiFailure> {
        let mut told: HashMap<_, VecDeque<_>> = HashMap::new();
        for item in &self.items {
            let id = self.calls.id_at(item.place).map(str::to_owned);
            let name = text(&item.fields, "name").map(str::to_owned);
            if let Some(id) = id {
                told.entry(name).or_default().push_back((item, id));
            }
        }
        let mut said = HashSet::new();
        for item in output.iter_mut().filter_map(Value::as_object_mut) {
            if !is_call(item) {
                continue;
            }
            let arguments = text(item, arguments_of(item)).unwrap_or_default();
            said.insert(value_of(arguments.trim()).to_string());
            let name = text(item, "name").map(str::to_owned);
            let known = told.get_mut(&name).and_then(|told| {
                let same = |(known, _): &(&Item, String)| known.is_begun_by(item);
                let known = told.iter().position(same)?;
                told.remove(known)
            });
            let id = match known {
                Some((_, id)) => Some(id),
                None => {
                    let fragment = Fragment {
                        arguments: arguments.to_owned(),
                        ..begin(item)
                    };
                    let place = self.calls.start(fragment, seen)?;
                    self.calls.end_one(place, seen);
                    self.calls.id_at(place).map(str::to_owned)
                }
            };
            if let Some(id) = id.filter(|_| text(item, "call_id").is_none()) {
                item.insert("call_id".to_owned(), json!(id));
            }
        }
        let stray = self.stray.trim();
        let mut values = values_of(stray).into_iter();
        match values.all(|value| said.contains(&value.to_string())) {
            true => Ok(()),
            false => Err(stray_arguments(stray)),
        }
    }

    /// Returns the calls whose items were never done, each with its place.
    pub(crate) fn undone(&self) -> impl Iterator<Item = (Option<u64>, Value)> {
        let is_open = |item: &&Item| !item.is_done && !self.calls.is_repeat(item.place);
        self.items.iter().filter(is_open).map(|item| {
            let mut fields = item.fields.clone();
            let field = arguments_of(&fields);
            let arguments = self.calls.arguments_at(item.place);
            if !arguments.is_empty() || !fields.contains_key(field) {
                fields.insert(field.to_owned(), json!(arguments));
            }
            if let Some(id) = self.calls.id_at(item.place) {
                fields.insert("call_id".to_owned(), json!(id));
            }
            (item.output_index, Value::Object(fields))
        })
    }
}

impl Item {
    /// Returns whether this is the item of a call, as far as ids and names show.
    fn is_begun_by(&self, item: &Map<String, Value>) -> bool {
        let same = |name| match (text(&self.fields, name), text(item, name)) {
            (Some(known), Some(said)) => known == said,
            _ => true,
        };
        let has_call_id = text(item, "call_id").is_some();
        let is_renamed = has_call_id && text(item, "call_id") == text(&self.fields, "call_id");
        (same("id") || is_renamed) && same("call_id") && same("name")
    }
}

/// Returns the fragment that begins the call of an item.
fn begin(item: &Map<String, Value>) -> Fragment {
    Fragment {
        id: text(item, "call_id").map(str::to_owned),
        name: text(item, "name").map(str::to_owned),
        is_plain: text(item, "type") == Some(CUSTOM_CALL),
        ..Fragment::default()
    }
}

/// Returns what a text says, however it is spaced.
fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Returns what a text says that may hold several values in a row.
fn values_of(text: &str) -> Vec<Value> {
    let values = serde_json::Deserializer::from_str(text).into_iter();
    let values: Result<Vec<Value>, _> = values.collect();
    values.unwrap_or_else(|_| vec![text.into()])
}

/// Returns the field that holds a call's arguments.
pub(crate) fn arguments_of(item: &Map<String, Value>) -> &'static str {
    match text(item, "type") {
        Some(CUSTOM_CALL) => "input",
        _ => "arguments",
    }
}

fn text<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let text = fields.get(key)?.as_str()?;
    (!text.is_empty()).then_some(text)
}
