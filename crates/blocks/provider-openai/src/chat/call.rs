use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use crate::arguments::Arguments;

/// Fields of a call that have a place of their own. `index` is the call's position, which is its place.
const PLACED: &[&str] = &["id", "type", "function", "custom", "arguments", "index"];

/// A call as it is sent.
#[derive(Debug)]
pub(crate) struct ChatCall<'a> {
    pub(crate) id: Cow<'a, str>,
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
        map.serialize_entry("id", &self.id)?;
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
