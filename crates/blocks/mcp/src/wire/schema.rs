//! Schemas of tools, as providers take them.

use rmcp::model::JsonObject;
use serde_json::{Map, Value};

/// What holds schemas by name.
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// What holds names by name.
const MAPS_OF_NAMES: [&str; 2] = ["dependencies", "dependentRequired"];
/// What holds a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// What holds one schema, or as `items` did once a list of them.
const SINGLE: [&str; 12] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "if",
    "then",
    "else",
    "not",
    "contentSchema",
];

/// Returns the schema of a tool's arguments: [mended], and of an object where it says no type.
pub(super) fn arguments(schema: &JsonObject) -> JsonObject {
    let mut schema = mended(schema);
    let is_other = ["$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const"];
    let says_else = is_other.iter().any(|name| schema.contains_key(*name));
    if !schema.contains_key("type") && !says_else {
        schema.insert("type".to_owned(), "object".into());
    }
    schema
}

/// Returns a schema without nulls in place of what is not there, and with empty objects in place of the empty lists
/// that some languages write for them. What is no schema in it, such as a default, stays as it is.
pub(super) fn mended(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    mend(&mut schema);
    schema
}

fn mend(schema: &mut JsonObject) {
    schema.retain(|name, value| {
        !(value.is_null() && matches!(name.as_str(), "type" | "properties" | "required"))
    });
    for (name, value) in schema.iter_mut() {
        let name = name.as_str();
        if MAPS.contains(&name) {
            object(value);
            if let Value::Object(schemas) = value {
                schemas.values_mut().for_each(mend_value);
            }
        } else if MAPS_OF_NAMES.contains(&name) {
            object(value);
        } else if SINGLE.contains(&name) {
            mend_value(value);
        }
        if let Value::Array(schemas) = value
            && (LISTS.contains(&name) || SINGLE.contains(&name))
        {
            schemas.iter_mut().for_each(mend_value);
        }
    }
}

fn mend_value(value: &mut Value) {
    object(value);
    if let Value::Object(schema) = value {
        mend(schema);
    }
}

/// Makes an empty list an empty object.
fn object(value: &mut Value) {
    if value.as_array().is_some_and(Vec::is_empty) {
        *value = Value::Object(Map::new());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: &Value) -> Value {
        arguments(schema.as_object().unwrap()).into()
    }

    #[test]
    fn an_empty_list_in_place_of_an_object_is_one_wherever_a_schema_wants_one() {
        for name in MAPS.into_iter().chain(MAPS_OF_NAMES) {
            let came = json!({"type": "object", name: []});
            assert_eq!(read(&came), json!({"type": "object", name: {}}));
        }
        let hollow = json!({"type": "object", "properties": []});
        let filled = json!({"type": "object", "properties": {}});
        for name in MAPS {
            let came = json!({"type": "object", name: {"a": hollow, "b": []}});
            let read = read(&came);
            assert_eq!(
                read,
                json!({"type": "object", name: {"a": filled, "b": {}}})
            );
        }
        for name in LISTS {
            let came = json!({"type": "object", name: [hollow, []]});
            assert_eq!(read(&came), json!({"type": "object", name: [filled, {}]}));
        }
        for name in SINGLE {
            let came = json!({"type": "object", name: hollow});
            assert_eq!(read(&came), json!({"type": "object", name: filled}));
        }
    }

    #[test]
    fn what_is_no_schema_stays_as_it_is() {
        let odd = json!({"properties": [], "items": null});
        let came = json!({
            "type": "object",
            "required": [],
            "properties": {
                "properties": {"type": "array", "default": [], "examples": [odd]},
                "choice": {"enum": [[], odd, null], "const": []},
            },
            "dependentRequired": {"a": []},
            "default": odd,
        });
        assert_eq!(read(&came), came);
    }

    #[test]
    fn nulls_in_place_of_what_is_not_there_are_left_out_at_any_depth() {
        let hollow = json!({"type": "object", "properties": null, "required": null});
        let came = json!({"type": null, "properties": {"a": hollow, "type": {"default": null}}});
        let read = read(&came);
        let properties = json!({"a": {"type": "object"}, "type": {"default": null}});
        assert_eq!(read, json!({"type": "object", "properties": properties}));
    }
}
