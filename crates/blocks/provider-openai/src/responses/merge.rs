//! What the last event lists, and what came before it.

use std::{
    collections::{HashMap, VecDeque},
    mem,
};

use serde_json::{Map, Value};

use crate::responses::item::CUSTOM_CALL;

/// How many items of one key are looked at.
const MOST_ALIKE: usize = 16;

/// An item that came before the last event, and its place in the output.
pub(crate) type Came = (Option<u64>, Value);

/// Returns the items that the last event lists, with those that it lacks and with what it leaves out of its own.
/// Servers list the message alone, or items that hold nothing.
///
/// The same item may have another id here and there. It is recognised by its ids, else by its content, by its place,
/// and at last by its kind. `came` is in the order of the places.
pub(crate) fn merge(output: Vec<Value>, came: Vec<Came>) -> Vec<Value> {
    let mut listed: Vec<Listed> = output.into_iter().map(Listed::from).collect();
    let mut rest: Vec<Option<Came>> = came.into_iter().map(Some).collect();
    for same in [ids, content, place, kind] {
        let mut known: HashMap<String, VecDeque<usize>> = HashMap::new();
        for (at, listed) in listed.iter().enumerate().filter(|(_, it)| it.is_free) {
            for key in same(&listed.item, Some(at as u64)) {
                known.entry(key).or_default().push_back(at);
            }
        }
        for came in &mut rest {
            let Some((at, item)) = came else { continue };
            let found = same(item, *at)
                .into_iter()
                .find_map(|key| find(known.get_mut(&key)?, &listed, item));
            if let Some(listed) = found.and_then(|at| listed.get_mut(at)) {
                listed.is_free = false;
                listed.place = *at;
                fill(&mut listed.item, mem::take(item));
                *came = None;
            }
        }
    }
    in_order(listed, rest.into_iter().flatten())
}

/// Returns the first of these places that may hold the item. Few places have one key, and no more are looked at.
fn find(places: &mut VecDeque<usize>, listed: &[Listed], item: &Value) -> Option<usize> {
    let is_free = |at: &usize| listed.get(*at).is_some_and(|listed| listed.is_free);
    while places.front().is_some_and(|at| !is_free(at)) {
        places.pop_front();
    }
    let fits = |at: &&usize| {
        let listed = listed.get(**at).filter(|listed| listed.is_free);
        listed.is_some_and(|listed| may_be_one(&listed.item, item))
    };
    places.iter().take(MOST_ALIKE).find(fits).copied()
}

/// Puts what is missing behind what has no greater place.
fn in_order(listed: Vec<Listed>, rest: impl Iterator<Item = Came>) -> Vec<Value> {
    let is_listed = !listed.is_empty();
    let mut items = Vec::with_capacity(listed.len());
    let mut listed = listed.into_iter().peekable();
    let mut reached = 0;
    for (place, item) in rest {
        if is_listed && item.as_object().is_some_and(is_hollow) {
            continue;
        }
        let place = place.unwrap_or(u64::MAX);
        while let Some(next) = listed.next_if(|next| next.place.unwrap_or(reached) <= place) {
            reached = reached.max(next.place.unwrap_or(reached));
            items.push(next.item);
        }
        items.push(item);
    }
    items.extend(listed.map(|listed| listed.item));
    items
}

/// An item of the last event.
struct Listed {
    item: Value,
    /// The place that it had before.
    place: Option<u64>,
    /// Nothing that came before is known to be it.
    is_free: bool,
}

impl From<Value> for Listed {
    fn from(item: Value) -> Self {
        Self {
            item,
            place: None,
            is_free: true,
        }
    }
}

fn ids(item: &Value, _: Option<u64>) -> Vec<String> {
    let id = |name| Some(format!("{name} {}", text(item, name)?));
    ["call_id", "id"].into_iter().filter_map(id).collect()
}

fn place(item: &Value, at: Option<u64>) -> Vec<String> {
    let key = at.map(|at| format!("{at} {}", kind_of(item)));
    key.into_iter().collect()
}

fn content(item: &Value, _: Option<u64>) -> Vec<String> {
    let key = said(item).map(|said| format!("{} {said} {:?}", kind_of(item), text(item, "name")));
    key.into_iter().collect()
}

/// Returns what a message or a call says, if it says anything: arguments however they are spaced.
fn said(item: &Value) -> Option<Value> {
    match kind_of(item) {
        "message" => {
            let text = item.as_object().map(text_of);
            text.filter(|text| !text.is_empty()).map(Value::String)
        }
        _ => arguments(item).map(|said| serde_json::from_str(said).unwrap_or_else(|_| said.into())),
    }
}

fn kind(item: &Value, _: Option<u64>) -> Vec<String> {
    vec![format!("{} {:?}", kind_of(item), text(item, "name"))]
}

/// Returns whether two items of one key can be one: those that say something else are two.
fn may_be_one(listed: &Value, came: &Value) -> bool {
    let same = |name| text(listed, name) == text(came, name);
    let (known, said) = (said(listed), said(came));
    let is_same_call = text(listed, "call_id").is_some() && same("call_id");
    let is_other_name = text(listed, "name").is_some() && !same("name");
    let agrees = known.is_none() || said.is_none() || known == said;
    kind_of(listed) == kind_of(came)
        && !is_other_name
        && (agrees || is_same_call || same_id(listed, came))
}

fn same_id(listed: &Value, came: &Value) -> bool {
    text(listed, "id").is_some_and(|id| text(came, "id") == Some(id))
}

/// Gives an item what it lacks and what came before has.
fn fill(listed: &mut Value, came: Value) {
    let (Value::Object(listed), Value::Object(came)) = (listed, came) else {
        return;
    };
    let is_hollow = is_hollow(listed);
    for (name, value) in came {
        let known = listed.get(&name).unwrap_or(&Value::Null);
        let is_missing = match name.as_str() {
            // How far it was.
            "status" => false,
            // It was emitted under this one.
            "call_id" => true,
            "content" if is_hollow => true,
            "arguments" => is_nothing(known) || known == "{}",
            _ => is_nothing(known),
        };
        if is_missing && !is_nothing(&value) {
            listed.insert(name, value);
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Returns whether a message holds no text: servers end items whose text came in the deltas alone.
pub(crate) fn is_hollow(item: &Map<String, Value>) -> bool {
    let text = |part: &Value| {
        let text = part.get("text").or_else(|| part.get("refusal"));
        text.and_then(Value::as_str).map(str::len)
    };
    let parts = item.get("content").and_then(Value::as_array);
    let is_message = item.get("type").is_some_and(|kind| kind == "message");
    is_message && parts.is_none_or(|parts| parts.iter().all(|part| text(part) == Some(0)))
}

/// Returns all the text of a message.
pub(crate) fn text_of(item: &Map<String, Value>) -> String {
    let parts = item.get("content").and_then(Value::as_array);
    let text = |part: &Value| {
        let text = part.get("text").or_else(|| part.get("refusal"))?;
        text.as_str().map(str::to_owned)
    };
    parts.into_iter().flatten().filter_map(text).collect()
}

fn kind_of(item: &Value) -> &str {
    text(item, "type").unwrap_or_default()
}

/// Returns the arguments of a call, if it has any.
fn arguments(item: &Value) -> Option<&str> {
    match kind_of(item) {
        "function_call" => text(item, "arguments").filter(|said| *said != "{}"),
        CUSTOM_CALL => text(item, "input"),
        _ => None,
    }
}

fn text<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    item.get(name)?.as_str().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "n", "arguments": arguments})
    }

    fn said(id: &str, text: &str) -> Value {
        json!({"type": "message", "id": id, "content": [{"type": "output_text", "text": text}]})
    }

    fn merged(output: &[Value], came: &[Value]) -> Vec<Value> {
        let came = came.iter().cloned().enumerate();
        let came = came.map(|(place, item)| (Some(place as u64), item));
        merge(output.to_vec(), came.collect())
    }

    #[test]
    fn what_is_listed_stands() {
        let items = [said("m", "a"), call("1", "{\"a\":1}"), call("2", "")];
        assert_eq!(merged(&items, &items), items);
        assert_eq!(merged(&items, &[]), items);
        assert_eq!(merged(&[], &items), items);
        let renamed = [said("x", "a"), call("x", "{\"a\":1}"), call("y", "")];
        let mut told = renamed.clone();
        told[1]["call_id"] = json!("1");
        told[2]["call_id"] = json!("2");
        assert_eq!(merged(&renamed, &items), told);
    }

    #[test]
    fn what_is_missing_goes_into_its_place() {
        let items = [
            call("1", "{\"a\":1}"),
            said("m", "a"),
            call("2", "{\"a\":1}"),
        ];
        let [first, message, last] = items.clone();
        for listed in [
            vec![message.clone()],
            vec![first.clone()],
            vec![first, last.clone()],
            vec![message, last],
        ] {
            assert_eq!(merged(&listed, &items), items, "{listed:?}");
        }
    }

    #[test]
    fn what_is_hollow_is_filled() {
        let items = [said("m", "a"), call("1", "{\"a\":1}")];
        let hollow = [said("m", ""), call("1", "{}")];
        assert_eq!(merged(&hollow, &items), items);
        assert_eq!(merged(&items, &hollow), items);
    }

    #[test]
    fn texts_that_differ_are_two_and_what_is_said_goes_before_the_place() {
        let came = [said("m1", "aaa"), said("m2", "bbb")];
        let listed = said("x", "bbb");
        let expected = [came[0].clone(), listed.clone()];
        assert_eq!(merged(&[listed], &came), expected);
    }

    #[test]
    fn arguments_are_the_same_however_they_are_spaced() {
        let (came, listed) = (call("1", "{\"a\":1}"), call("2", "{ \"a\": 1 }"));
        assert_eq!(merged(&[listed], &[came]).len(), 1);
    }

    #[test]
    fn calls_that_say_something_else_are_two() {
        let (came, listed) = (call("1", "{\"a\":1}"), call("2", "{\"a\":2}"));
        let both = [listed, came];
        let [listed, came] = &both;
        let merged = merge(vec![listed.clone()], vec![(Some(0), came.clone())]);
        assert_eq!(merged, both);
    }
}
