use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

/// The schema of a tool's arguments. OpenAI refuses an object schema that does not say `properties`, even
/// for a tool without arguments.
#[derive(Debug)]
pub(crate) struct Parameters<'a>(pub(crate) &'a Value);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(schema) if !schema.contains_key("properties") => {
                let mut map = serializer.serialize_map(Some(schema.len() + 1))?;
                for (name, value) in schema {
                    map.serialize_entry(name, value)?;
                }
                map.serialize_entry("properties", &serde_json::Map::new())?;
                map.end()
            }
            other => other.serialize(serializer),
        }
    }
}
