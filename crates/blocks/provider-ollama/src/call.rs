use std::borrow::Cow;

use neuron_provider_http::read_input;
use neuron_types::ContentBlock;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// Reads one entry of `tool_calls`. `None` if it names no tool.
///
/// Its further fields are kept as they stand, those of its function below `function`.
pub(crate) fn read(
    call: Value,
    new_id: impl FnOnce(&str, &Value) -> String,
) -> Option<ContentBlock> {
    let Value::Object(mut call) = call else {
        return None;
    };
    let mut function = match call.remove("function") {
        Some(Value::Object(function)) => function,
        Some(_) => return None,
        // Some servers leave the function around them out.
        None => {
            let flat = ["name", "arguments"].into_iter();
            flat.filter_map(|name| call.remove_entry(name)).collect()
        }
    };
    let Some(Value::String(name)) = function.remove("name") else {
        return None;
    };
    let input = match function.remove("arguments") {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(text)) => read_text(&text),
        Some(other) => other,
    };
    let id = match call.remove("id") {
        Some(Value::String(id)) if !id.is_empty() => id,
        _ => new_id(&name, &input),
    };
    if !function.is_empty() {
        call.insert("function".to_owned(), Value::Object(function));
    }
    Some(ContentBlock::ToolUse {
        own_id: None,
        id,
        name,
        input,
        extra: (!call.is_empty()).then_some(Value::Object(call)),
    })
}

/// Returns the arguments of an entry of `tool_calls`, if it has any.
pub(crate) fn arguments_of(call: &Value) -> Option<&Value> {
    let function = call.get("function").unwrap_or(call);
    let arguments = function.get("arguments")?;
    let is_nothing = match arguments {
        Value::Null => true,
        Value::String(text) => matches!(text.trim(), "" | "{}" | "null"),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    (!is_nothing).then_some(arguments)
}

/// Reads arguments as other APIs write them. What is no JSON stays text, so that the model can read what is wrong with
/// it.
fn read_text(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    read_input(text)
}

/// Makes an id for a call that came without one: the same for the same call of the same answer.
pub(crate) fn new_id(answer: &str, position: usize, name: &str, input: &Value) -> String {
    let call = format!("{answer}\n{position}\n{name}\n{input}");
    format!(
        "call_{}",
        Uuid::new_v5(&Uuid::NAMESPACE_OID, call.as_bytes()).simple()
    )
}

/// A call as it is sent.
#[derive(Debug)]
pub(crate) struct SentCall<'a> {
    pub(crate) id: Cow<'a, str>,
    pub(crate) name: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) extra: Option<&'a Value>,
}

impl Serialize for SentCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let extra = self.extra.and_then(Value::as_object);
        let function = Function {
            call: self,
            extra: extra.and_then(|extra| extra.get("function")?.as_object()),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("function", &function)?;
        write_others(&mut map, extra, &["id", "function"])?;
        map.end()
    }
}

struct Function<'a> {
    call: &'a SentCall<'a>,
    extra: Option<&'a Map<String, Value>>,
}

impl Serialize for Function<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.call.name)?;
        match self.call.input {
            input @ Value::Object(_) => map.serialize_entry("arguments", input)?,
            // Ollama takes nothing but an object.
            Value::Null => map.serialize_entry("arguments", &Map::new())?,
            other => map.serialize_entry("arguments", &json!({"arguments": other}))?,
        }
        write_others(&mut map, self.extra, &["name", "arguments"])?;
        map.end()
    }
}

/// Writes the fields except those that have been written.
pub(crate) fn write_others<M: SerializeMap>(
    map: &mut M,
    fields: Option<&Map<String, Value>>,
    written: &[&str],
) -> Result<(), M::Error> {
    for (name, value) in fields.into_iter().flatten() {
        if !written.contains(&name.as_str()) {
            map.serialize_entry(name, value)?;
        }
    }
    Ok(())
}
