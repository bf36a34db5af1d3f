//! Whether arguments fit a tool's schema, as far as it can be checked at once.

use serde_json::{Map, Value};

use crate::ToolDefinition;

/// How deep a schema is looked at.
const MAX_DEPTH: usize = 32;

impl ToolDefinition {
    /// Returns why these arguments of a call do not fit the [schema](Self::input_schema); `None` if nothing speaks against
    /// them.
    ///
    /// It looks at types, enumerations, required and unknown properties, and items, in one walk over the arguments, and
    /// takes what other keywords say for granted: the executor checks the whole schema before the call.
    ///
    /// ```
    /// use neuron_types::ToolDefinition;
    /// use serde_json::json;
    ///
    /// let tool = ToolDefinition {
    ///     name: "bash".into(),
    ///     input_schema: json!({
    ///         "type": "object",
    ///         "properties": {"command": {"type": "string"}},
    ///         "required": ["command"],
    ///         "additionalProperties": false,
    ///     }),
    ///     ..ToolDefinition::default()
    /// };
    /// assert_eq!(tool.misfit(&json!({"command": "ls"})), None);
    /// for (input, said) in [
    ///     (json!({"command": 3}), "at /command: it is a number, and string is wanted"),
    ///     (json!({"cmd": "ls"}), "\"command\" is missing"),
    ///     (json!({"command": "ls", "x": 1}), "\"x\" is unknown"),
    ///     (json!("ls"), "they are a string, and an object is wanted"),
    /// ] {
    ///     let expected = format!("the arguments do not fit the schema of bash: {said}");
    ///     assert_eq!(tool.misfit(&input), Some(expected));
    /// }
    /// ```
    #[must_use]
    pub fn misfit(&self, input: &Value) -> Option<String> {
        let reason = if input.is_object() {
            misfit(&self.input_schema, input, "", MAX_DEPTH)
        } else {
            let found = type_of(input);
            Some(format!(
                "they are {}, and an object is wanted",
                article(found)
            ))
        };
        let name = &self.name;
        reason.map(|reason| format!("the arguments do not fit the schema of {name}: {reason}"))
    }
}

fn misfit(schema: &Value, value: &Value, path: &str, depth: usize) -> Option<String> {
    let schema = match schema {
        Value::Bool(false) => return Some(at(path, "nothing is wanted here")),
        Value::Object(schema) => schema,
        _ => return None,
    };
    let depth = depth.checked_sub(1)?;
    if let Some(wanted) = schema
        .get("type")
        .and_then(|wanted| other_type(wanted, value))
    {
        let found = article(type_of(value));
        return Some(at(path, &format!("it is {found}, and {wanted} is wanted")));
    }
    let is_other = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => !values.contains(value),
        (_, Some(only)) => only != value,
        _ => false,
    };
    if is_other {
        return Some(at(path, "it is none of the values that are wanted"));
    }
    match value {
        Value::Object(fields) => misfit_of_object(schema, fields, path, depth),
        Value::Array(items) => {
            let schema = schema.get("items")?;
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| misfit(schema, item, &format!("{path}/{index}"), depth))
        }
        _ => None,
    }
}

fn misfit_of_object(
    schema: &Map<String, Value>,
    fields: &Map<String, Value>,
    path: &str,
    depth: usize,
) -> Option<String> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut required = required.into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
        return Some(at(path, &format!("{missing:?} is missing")));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    // Which of them are additional is not known with patterns.
    let has_patterns = schema.contains_key("patternProperties");
    let additional = schema.get("additionalProperties").filter(|_| !has_patterns);
    fields.iter().find_map(|(name, field)| {
        let known = properties.and_then(|properties| properties.get(name));
        if known.is_none() && additional == Some(&Value::Bool(false)) {
            return Some(at(path, &format!("{name:?} is unknown")));
        }
        let path = format!("{path}/{name}");
        misfit(known.or(additional)?, field, &path, depth)
    })
}

fn at(path: &str, reason: &str) -> String {
    match path {
        "" => reason.to_owned(),
        path => format!("at {path}: {reason}"),
    }
}

/// The types that are wanted, if the value has none of them.
fn other_type(wanted: &Value, value: &Value) -> Option<String> {
    let names: Vec<&str> = match wanted {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let has = |name: &&str| match *name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => name == type_of(value),
    };
    let fits = names.is_empty() || names.iter().any(has);
    (!fits).then(|| names.join(" or "))
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn article(name: &str) -> String {
    match name {
        "null" => name.to_owned(),
        "array" | "object" => format!("an {name}"),
        name => format!("a {name}"),
    }
}
