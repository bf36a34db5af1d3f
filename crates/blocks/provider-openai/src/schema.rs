use std::borrow::Cow;

use neuron_provider_http::closed_schema;
use neuron_types::{ProviderError, ToolDefinition, object_schema};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::reasoning::refuse;

/// The schema of a tool's arguments. OpenAI rejects an object schema that does not have `properties`, even for a tool
/// without arguments.
#[derive(Debug)]
pub(crate) struct Parameters<'a>(Cow<'a, Value>);

impl<'a> Parameters<'a> {
    /// Returns the parameters of a tool. What the model is held to has closed objects alone, with all their properties
    /// required. `None` where the schema is not one of an object.
    pub(crate) fn of(tool: &'a ToolDefinition) -> Result<Option<Self>, ProviderError> {
        let schema = &tool.input_schema;
        if tool.strict != Some(true) {
            return Ok(object_schema(schema).map(Self));
        }
        if let Some(property) = optional_property(schema) {
            return Err(refuse(format!(
                "openai holds no model to a schema with optional properties, and {property:?} of the tool {:?} \
                 is one: require it and let it be null, or leave `strict` unset",
                tool.name,
            )));
        }
        Ok(Some(Self(closed_schema(schema))))
    }
}

/// Returns a property of an object, at any depth, that is not required.
fn optional_property(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(fields) => {
            own_optional_property(fields).or_else(|| fields.values().find_map(optional_property))
        }
        Value::Array(schemas) => schemas.iter().find_map(optional_property),
        _ => None,
    }
}

fn own_optional_property(fields: &Map<String, Value>) -> Option<&str> {
    if fields.get("type").and_then(Value::as_str) != Some("object") {
        return None;
    }
    let required = fields.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|required| required.iter().any(|required| required == name))
    };
    let mut properties = fields.get("properties")?.as_object()?.keys();
    properties
        .find(|name| !is_required(name))
        .map(String::as_str)
}

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_ref() {
            Value::Object(schema) if !schema.contains_key("properties") => {
                let mut map = serializer.serialize_map(Some(schema.len() + 1))?;
                for (name, value) in schema {
                    map.serialize_entry(name, value)?;
                }
                map.serialize_entry("properties", &Map::new())?;
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}
