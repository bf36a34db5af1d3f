use std::borrow::Cow;

use serde_json::{Map, Value};

/// How many values a schema may grow to. Definitions that use each other can grow without end.
const MOST_VALUES: usize = 10_000;

/// Returns a tool's schema with its references to `$defs` and `definitions` replaced by what they refer to,
/// which is all that Ollama understands. A reference that leads back to itself, or elsewhere, stays.
pub(crate) fn inlined(schema: &Value) -> Cow<'_, Value> {
    if !has_reference(schema) {
        return Cow::Borrowed(schema);
    }
    let mut inliner = Inliner {
        root: schema,
        open: Vec::new(),
        left: MOST_VALUES,
    };
    let inlined = inliner.value(schema);
    // What grew too large is sent as it was: the server reads as much of it as it can.
    if inliner.left == 0 {
        return Cow::Borrowed(schema);
    }
    Cow::Owned(inlined)
}

fn has_reference(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key("$ref") || fields.values().any(has_reference),
        Value::Array(values) => values.iter().any(has_reference),
        _ => false,
    }
}

struct Inliner<'a> {
    root: &'a Value,
    /// The references that are being replaced.
    open: Vec<&'a str>,
    left: usize,
}

impl<'a> Inliner<'a> {
    fn value(&mut self, value: &'a Value) -> Value {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Value::Null;
        }
        match value {
            Value::Object(fields) => self.object(fields),
            Value::Array(values) => values.iter().map(|value| self.value(value)).collect(),
            other => other.clone(),
        }
    }

    fn object(&mut self, fields: &'a Map<String, Value>) -> Value {
        let reference = fields.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| self.target(reference));
        let mut object = Map::new();
        if let (Some(reference), Some(target)) = (reference, target) {
            self.open.push(reference);
            if let Value::Object(fields) = self.value(target) {
                object = fields;
            }
            self.open.pop();
        }
        let replaced = target.is_some();
        for (name, value) in fields {
            if !(replaced && name == "$ref") {
                object.insert(name.clone(), self.value(value));
            }
        }
        Value::Object(object)
    }

    fn target(&self, reference: &'a str) -> Option<&'a Value> {
        let path = reference.strip_prefix('#')?;
        let known = path.starts_with("/$defs/") || path.starts_with("/definitions/");
        if !known || self.open.contains(&reference) {
            return None;
        }
        self.root.pointer(path).filter(|target| target.is_object())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_without_references_is_not_copied() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert!(matches!(inlined(&schema), Cow::Borrowed(_)));
    }

    #[test]
    fn a_reference_is_replaced_and_what_stands_beside_it_stays() {
        let schema = json!({
            "type": "object",
            "properties": {
                "from": {"$ref": "#/$defs/Place", "description": "where it starts"},
                "via": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
            },
            "$defs": {
                "Place": {"type": "object", "properties": {"zone": {"$ref": "#/$defs/Zone"}}},
                "Zone": {"enum": ["a", "b"]},
            },
        });
        let place = json!({"type": "object", "properties": {"zone": {"enum": ["a", "b"]}}});
        let mut from = place.clone();
        from["description"] = json!("where it starts");

        let sent = inlined(&schema);

        assert_eq!(sent["properties"]["from"], from);
        assert_eq!(sent["properties"]["via"]["items"], place);
    }

    #[test]
    fn a_reference_to_itself_or_elsewhere_stays() {
        let schema = json!({
            "properties": {
                "tree": {"$ref": "#/$defs/Tree"},
                "far": {"$ref": "https://example.com/schema"},
                "lost": {"$ref": "#/$defs/None"},
            },
            "$defs": {"Tree": {"properties": {"left": {"$ref": "#/$defs/Tree"}}}},
        });

        let sent = inlined(&schema);

        let left = &sent["properties"]["tree"]["properties"]["left"];
        assert_eq!(left, &json!({"$ref": "#/$defs/Tree"}));
        assert_eq!(sent["properties"]["far"], schema["properties"]["far"]);
        assert_eq!(sent["properties"]["lost"], schema["properties"]["lost"]);
    }

    #[test]
    fn a_schema_that_would_grow_too_large_is_sent_as_it_is() {
        let mut defs = Map::new();
        for level in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            defs.insert(format!("d{level}"), json!({"anyOf": [next, next]}));
        }
        let schema = json!({"$ref": "#/$defs/d0", "$defs": defs});

        assert_eq!(inlined(&schema).as_ref(), &schema);
    }
}
