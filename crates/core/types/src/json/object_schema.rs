//! Schemas of arguments, as the APIs take them.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::{Map, Value, json};

/// What combines schemas. At the top of a tool's schema Anthropic and OpenAI reject them.
const COMBINED: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// How deep cases and references are followed.
const DEEPEST: usize = 8;

/// How many cases are looked at: definitions that use each other are without end.
const MOST_CASES: usize = 1_000;

/// Returns a tool's schema as one of an object, with nothing combined at its top. `None` if it is that of no object.
///
/// What is combined becomes one object with the properties of all; required is what all of its cases require. It says less
/// than the original, by which the arguments are judged all the same. Nothing is copied where nothing changes.
#[must_use]
pub fn object_schema(schema: &Value) -> Option<Cow<'_, Value>> {
    let fields = match schema {
        Value::Object(fields) => fields,
        // No arguments.
        Value::Null | Value::Bool(true) => return Some(Cow::Owned(empty())),
        _ => return None,
    };
    let is_plain = fields.get("type").and_then(Value::as_str) == Some("object");
    let is_combined = |fields: &Map<String, Value>| {
        COMBINED.iter().any(|name| fields.contains_key(*name)) || fields.contains_key("$ref")
    };
    if is_plain && !is_combined(fields) {
        return Some(Cow::Borrowed(schema));
    }
    let mut merged = Merged::default();
    merged.take(
        &mut Reader {
            root: schema,
            left: MOST_CASES,
        },
        fields,
        DEEPEST,
    )?;
    Some(Cow::Owned(Value::Object(merged.into_fields(fields))))
}

fn empty() -> Value {
    json!({"type": "object", "properties": {}})
}

struct Reader<'a> {
    root: &'a Value,
    left: usize,
}

#[derive(Debug, Default)]
struct Merged {
    properties: Map<String, Value>,
    required: BTreeSet<String>,
}

impl Merged {
    /// Takes a schema in that always holds. `None` if it is not that of an object.
    fn take(
        &mut self,
        reader: &mut Reader<'_>,
        fields: &Map<String, Value>,
        depth: usize,
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        reader.left = reader.left.checked_sub(1)?;
        if !is_object(fields.get("type")) {
            return None;
        }
        if let Some(reference) = fields.get("$ref") {
            let target = reference.as_str()?.strip_prefix('#')?;
            self.take(reader, reader.root.pointer(target)?.as_object()?, depth)?;
        }
        if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                self.add(name, property);
            }
        }
        self.required.extend(required(fields));
        for case in list(fields, "allOf") {
            self.take(reader, case.as_object()?, depth)?;
        }
        for name in ["anyOf", "oneOf"] {
            let mut common: Option<BTreeSet<String>> = None;
            let cases = list(fields, name);
            for case in cases {
                let mut one = Self::default();
                // A case that is no object cannot be chosen.
                if one.take(reader, case.as_object()?, depth).is_none() {
                    continue;
                }
                for (name, property) in &one.properties {
                    self.add(name, property);
                }
                common = Some(match common {
                    Some(common) => common.intersection(&one.required).cloned().collect(),
                    None => one.required,
                });
            }
            if common.is_none() && !cases.is_empty() {
                return None;
            }
            self.required.extend(common.unwrap_or_default());
        }
        Some(())
    }

    /// A property that two cases describe in two ways may be as either says.
    fn add(&mut self, name: &str, property: &Value) {
        let merged = match self.properties.remove(name) {
            Some(known) if known != *property => {
                let mut cases = match known {
                    Value::Object(mut fields)
                        if fields.len() == 1 && fields.contains_key("anyOf") =>
                    {
                        match fields.remove("anyOf") {
                            Some(Value::Array(cases)) => cases,
                            _ => Vec::new(),
                        }
                    }
                    known => vec![known],
                };
                if !cases.contains(property) {
                    cases.push(property.clone());
                }
                json!({"anyOf": cases})
            }
            _ => property.clone(),
        };
        self.properties.insert(name.to_owned(), merged);
    }

    fn into_fields(self, original: &Map<String, Value>) -> Map<String, Value> {
        let dropped = |name: &str| COMBINED.contains(&name) || name == "$ref";
        let mut fields = original.clone();
        fields.retain(|name, _| !dropped(name));
        fields.insert("type".to_owned(), json!("object"));
        fields.insert("properties".to_owned(), Value::Object(self.properties));
        fields.remove("required");
        if !self.required.is_empty() {
            fields.insert("required".to_owned(), json!(self.required));
        }
        fields
    }
}

fn is_object(kind: Option<&Value>) -> bool {
    match kind {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        Some(_) => false,
    }
}

fn list<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    let list = fields.get(name).and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

fn required(fields: &Map<String, Value>) -> impl Iterator<Item = String> {
    let names = list(fields, "required").iter();
    names.filter_map(|name| name.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_object_is_not_copied() {
        let schema = json!({"type": "object", "properties": {"a": {"oneOf": []}}});
        assert!(matches!(object_schema(&schema), Some(Cow::Borrowed(_))));
    }

    #[test]
    fn cases_become_one_object_that_requires_what_all_require() {
        let schema = json!({
            "description": "by id or by name",
            "oneOf": [
                {"type": "object", "properties": {"id": {"type": "integer"}, "all": {"type": "boolean"}}, "required": ["id", "all"]},
                {"properties": {"name": {"type": "string"}, "all": {"type": "string"}}, "required": ["name", "all"]},
            ],
        });
        assert_eq!(
            *object_schema(&schema).unwrap(),
            json!({
                "description": "by id or by name", "type": "object", "required": ["all"],
                "properties": {
                    "id": {"type": "integer"}, "name": {"type": "string"},
                    "all": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
                },
            })
        );
    }

    #[test]
    fn what_always_holds_is_required_and_references_are_followed() {
        let schema = json!({
            "$ref": "#/$defs/Base", "$defs": {"Base": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
            "allOf": [{"properties": {"b": {}}, "required": ["b"]}],
        });
        let sent = object_schema(&schema).unwrap();
        assert_eq!(sent["required"], json!(["a", "b"]));
        assert_eq!(sent["properties"], json!({"a": {}, "b": {}}));
        assert_eq!(sent["$defs"], schema["$defs"]);
    }

    #[test]
    fn a_schema_that_says_nothing_is_an_object_of_no_properties() {
        for schema in [json!({}), json!(null), json!(true)] {
            assert_eq!(*object_schema(&schema).unwrap(), empty(), "{schema}");
        }
    }

    #[test]
    fn a_schema_of_no_object_is_none() {
        for schema in [
            json!({"type": "array"}),
            json!("object"),
            json!({"$ref": "https://example.com/x"}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}}),
            json!({"allOf": [{"type": "string"}]}),
            json!({"anyOf": [{"type": "string"}, {"type": "array"}]}),
            json!({"oneOf": [{"anyOf": [{"type": "null"}]}]}),
        ] {
            assert_eq!(object_schema(&schema), None, "{schema}");
        }
    }

    proptest! {
        #[test]
        fn what_comes_out_stays_as_it_is(names in proptest::collection::vec("[a-c]", 0..4), required in any::<bool>()) {
            let cases: Vec<Value> = names
                .iter()
                .map(|name| json!({"properties": {name: {"type": "string"}}, "required": if required { vec![name] } else { vec![] }}))
                .collect();
            let schema = json!({"anyOf": cases});
            let sent = object_schema(&schema).unwrap().into_owned();
            prop_assert!(matches!(object_schema(&sent), Some(Cow::Borrowed(_))));
        }
    }
}
