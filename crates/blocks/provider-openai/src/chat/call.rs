use neuron_types::ContentBlock;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::arguments::{Arguments, received_call, received_custom_call};

/// Fields of a call that have a place of their own. `index` is the call's position, which is its place.
const PLACED: &[&str] = &["id", "type", "function", "custom", "arguments", "index"];

/// Reads one entry of `tool_calls`. `None` if it names no tool.
pub(crate) fn read(call: Value) -> Option<ContentBlock> {
    let Value::Object(mut call) = call else {
        return None;
    };
    let kind = take_text(&mut call, "type").unwrap_or_default();
    let id = take_text(&mut call, "id");
    let function = call.remove("function");
    let custom = call.remove("custom");
    call.remove("index");
    call.retain(|_, value| !value.is_null());
    if !matches!(kind.as_str(), "" | "function") {
        call.insert("type".to_owned(), Value::String(kind));
    }
    if let Some(Value::Object(mut function)) = function {
        let name = take_text(&mut function, "name")?;
        let arguments = function.remove("arguments");
        return Some(received_call(id, name, arguments, call));
    }
    let Some(Value::Object(mut custom)) = custom else {
        return None;
    };
    let name = take_text(&mut custom, "name")?;
    let input = take_text(&mut custom, "input").unwrap_or_default();
    Some(received_custom_call(id, name, input, call))
}

fn take_text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// A call as it is sent.
#[derive(Debug)]
pub(crate) struct ChatCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) extra: Option<&'a Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
struct Custom<'a> {
    name: &'a str,
    input: Arguments<'a>,
}

impl Serialize for ChatCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.extra.and_then(|extra| extra.get("type")?.as_str());
        let arguments = Arguments {
            input: self.input,
            extra: self.extra,
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.id)?;
        map.serialize_entry("type", kind.unwrap_or("function"))?;
        if kind == Some("custom") {
            let custom = Custom {
                name: self.name,
                input: arguments,
            };
            map.serialize_entry("custom", &custom)?;
        } else {
            let function = Function {
                name: self.name,
                arguments,
            };
            map.serialize_entry("function", &function)?;
        }
        let extra = self.extra.and_then(Value::as_object);
        for (name, value) in extra.into_iter().flatten() {
            if !PLACED.contains(&name.as_str()) {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}
