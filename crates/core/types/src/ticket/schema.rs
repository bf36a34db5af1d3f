//! A first look at a value beside its JSON Schema.

use serde_json::Value;

/// How deep properties are looked into.
const DEPTH: usize = 8;

/// Checks a value against the parts of a JSON Schema that are simple: `type`, `enum`, `required`, and those of the
/// `properties`. What else a schema says is not looked at.
///
/// # Errors
///
/// A sentence that says what does not fit.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    check_at(schema, value, "", DEPTH)
}

fn check_at(schema: &Value, value: &Value, place: &str, depth: usize) -> Result<(), String> {
    let what = if place.is_empty() { "the value" } else { place };
    if let Some(wanted) = schema.get("type")
        && !is_of(wanted, value)
    {
        return Err(format!("{what} is not of type {wanted}"));
    }
    if let Some(Value::Array(known)) = schema.get("enum")
        && !known.contains(value)
    {
        return Err(format!("{what} is none of {}", Value::Array(known.clone())));
    }
    let Value::Object(fields) = value else {
        return Ok(());
    };
    if let Some(Value::Array(required)) = schema.get("required") {
        let missing = required
            .iter()
            .filter_map(Value::as_str)
            .find(|name| !fields.contains_key(*name));
        if let Some(name) = missing {
            return Err(format!("{what} has no {name:?}"));
        }
    }
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Ok(());
    };
    if depth == 0 {
        return Ok(());
    }
    for (name, schema) in properties {
        if let Some(value) = fields.get(name) {
            let place = match place {
                "" => name.clone(),
                place => format!("{place}.{name}"),
            };
            check_at(schema, value, &place, depth - 1)?;
        }
    }
    Ok(())
}

fn is_of(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::String(name) => is_named(name, value),
        Value::Array(names) => names
            .iter()
            .any(|name| name.as_str().is_none_or(|name| is_named(name, value))),
        _ => true,
    }
}

fn is_named(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        // A type that there is not restricts nothing that could be looked at.
        _ => true,
    }
}
