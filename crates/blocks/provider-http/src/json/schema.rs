use std::borrow::Cow;

use serde_json::{Map, Value};

/// Returns a JSON Schema in which every object is closed that does not say whether it is: APIs that hold a model to a
/// schema take no open ones. Nothing is copied if no object is open.
#[must_use]
pub fn closed_schema(schema: &Value) -> Cow<'_, Value> {
    if is_closed(schema) {
        return Cow::Borrowed(schema);
    }
    let mut schema = schema.clone();
    close(&mut schema);
    Cow::Owned(schema)
}

fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => !is_open(fields) && fields.values().all(is_closed),
        Value::Array(schemas) => schemas.iter().all(is_closed),
        _ => true,
    }
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if is_open(fields) {
                fields.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(schemas) => schemas.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns whether this is an object schema that does not say whether it is closed. A property that is called
/// `properties` is an object of schemas, not a schema.
fn is_open(fields: &Map<String, Value>) -> bool {
    let object = fields.get("type").and_then(Value::as_str) == Some("object");
    object && !fields.contains_key("additionalProperties")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn open_objects_are_closed_at_every_depth() {
        let schema = json!({"type": "object", "properties": {
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
            "free": {"type": "object", "additionalProperties": {"type": "string"}},
        }, "anyOf": [{"type": "object"}]});
        assert_eq!(
            *closed_schema(&schema),
            json!({"type": "object", "additionalProperties": false, "properties": {
                "list": {"type": "array", "items": {
                    "type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}}}},
                "free": {"type": "object", "additionalProperties": {"type": "string"}},
            }, "anyOf": [{"type": "object", "additionalProperties": false}]})
        );
    }

    #[test]
    fn a_closed_schema_is_not_copied() {
        let schema = json!({"type": "object", "additionalProperties": false});
        assert!(matches!(closed_schema(&schema), Cow::Borrowed(_)));
    }
}
