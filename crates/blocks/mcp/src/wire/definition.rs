//! Which of a server's tools can be used here, and under which name.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::{ArgumentKind, ToolAnnotations, ToolDefinition, hex, object_schema};
use rmcp::model::{self as wire, JsonObject};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::wire::{
    harmless::{cleaned, is_control, shown},
    mend::{self, Omitted},
    schema::{arguments, mended},
};

/// The longest name that providers take.
const MAX_NAME: usize = 64;
/// The longest name that MCP allows.
const MAX_WIRE_NAME: usize = 128;
/// The most bytes of a description.
const MAX_DESCRIPTION_BYTES: usize = 16 * 1024;
/// The most bytes of a schema.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;
/// How deep a schema may be nested.
const MAX_SCHEMA_DEPTH: usize = 32;

/// A tool, resource or prompt that a server lists and that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// Its name, made harmless to look at.
    pub name: String,
    /// Why it cannot be used.
    pub reason: String,
}

/// What is kept of a server's list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sorted {
    /// Each with the server's own name of it.
    pub(crate) usable: Vec<(String, ToolDefinition)>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Returns what cannot be read of a server's list.
pub(crate) fn omitted(meta: Option<&wire::MetaObject>) -> Vec<LeftOut> {
    let omitted = mend::omitted(meta).into_iter();
    let left_out = omitted.map(|Omitted { name, reason }| LeftOut {
        name: shown(&name, MAX_WIRE_NAME),
        reason: shown(&reason, MAX_WIRE_NAME),
    });
    left_out.collect()
}

/// Sorts out what cannot be used, and gives the rest names that providers take.
pub(crate) fn sort(prefix: Option<&str>, tools: Vec<wire::Tool>) -> Sorted {
    let mut sorted = Sorted::default();
    let mut names = names(prefix, &tools);
    for tool in tools {
        let own = tool.name.clone().into_owned();
        let problem = problem(&tool);
        let name = match (names.remove(&own), problem) {
            (Some(name), None) => name,
            (_, problem) => {
                let twice = || format!("another tool of the server is called {own} already");
                sorted.left_out.push(LeftOut {
                    name: shown(&own, MAX_WIRE_NAME),
                    reason: problem.unwrap_or_else(twice),
                });
                continue;
            }
        };
        let definition = ToolDefinition {
            name,
            ..from_wire(tool)
        };
        sorted.usable.push((own, definition));
    }
    sorted
}

/// Returns a definition under the server's own name.
pub(crate) fn from_wire(tool: wire::Tool) -> ToolDefinition {
    let hints = tool.annotations;
    let title = tool
        .title
        .or_else(|| hints.as_ref().and_then(|hints| hints.title.clone()));
    let input_schema = Value::Object(arguments(&tool.input_schema));
    ToolDefinition {
        arguments: object_schema(&input_schema)
            .map_or_else(BTreeMap::new, |schema| ArgumentKind::in_schema(&schema)),
        input_schema,
        name: tool.name.into_owned(),
        title: title.map(|title| shown(&title, MAX_WIRE_NAME)),
        description: description(tool.description.as_deref().unwrap_or_default()),
        output_schema: tool
            .output_schema
            .map(|schema| Value::Object(mended(&schema))),
        annotations: hints.map(|hints| ToolAnnotations {
            read_only_hint: hints.read_only_hint,
            destructive_hint: hints.destructive_hint,
            idempotent_hint: hints.idempotent_hint,
            open_world_hint: hints.open_world_hint,
        }),
        timeout: None,
        cache_control: None,
        strict: None,
        deferred: false,
        previews: false,
        outcomes: false,
        extra: None,
    }
}

/// Returns our definition as MCP has it.
pub(crate) fn to_wire(definition: ToolDefinition) -> wire::Tool {
    let object = |schema: Value| match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    let mut tool = wire::Tool::new(
        definition.name,
        definition.description,
        object(definition.input_schema),
    );
    tool.title = definition.title;
    tool.output_schema = definition.output_schema.map(|schema| object(schema).into());
    tool.annotations = definition.annotations.map(|hints| {
        wire::ToolAnnotations::from_raw(
            None,
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
            hints.open_world_hint,
        )
    });
    tool
}

/// Returns the names of the tools that can be used, by the server's own. Where several would have the same one, it is
/// for the tool that is called so itself, else for the first by its own name; the others have a digest. The order of
/// the list does not matter.
fn names(prefix: Option<&str>, tools: &[wire::Tool]) -> BTreeMap<String, String> {
    let usable = tools.iter().filter(|tool| problem(tool).is_none());
    let own: BTreeSet<&str> = usable.map(|tool| tool.name.as_ref()).collect();
    let (exact, altered): (Vec<_>, Vec<_>) = own
        .into_iter()
        .partition(|own| name(prefix, own) == plain(prefix, own));
    let mut taken = BTreeSet::new();
    let mut names = BTreeMap::new();
    for own in exact.into_iter().chain(altered) {
        let candidates = [name(prefix, own), digested(replaced(prefix, own), own)];
        let free = candidates.into_iter().find(|name| !taken.contains(name));
        if let Some(name) = free {
            taken.insert(name.clone());
            names.insert(own.to_owned(), name);
        }
    }
    names
}

/// Returns a name that providers take: `prefix__name`, other characters than letters, digits, `_` and `-` replaced by
/// `_`. A name that would be too long is cut, with a digest to distinguish it from others.
fn name(prefix: Option<&str>, own: &str) -> String {
    let name = replaced(prefix, own);
    match name.len() > MAX_NAME {
        true => digested(name, own),
        false => name,
    }
}

fn replaced(prefix: Option<&str>, own: &str) -> String {
    let plain = plain(prefix, own);
    let replaced = plain.chars().map(|c| match c {
        '_' | '-' => c,
        c if c.is_ascii_alphanumeric() => c,
        _ => '_',
    });
    replaced.collect()
}

fn plain(prefix: Option<&str>, own: &str) -> String {
    match prefix {
        Some(prefix) => format!("{prefix}__{own}"),
        None => own.to_owned(),
    }
}

/// Returns a name that ends with a digest of the server's own.
fn digested(mut name: String, own: &str) -> String {
    let digest = Sha256::digest(own.as_bytes());
    name.truncate(MAX_NAME - 9);
    name.push('_');
    name.push_str(&hex(digest.get(..4).unwrap_or_default()));
    name
}

/// Returns why a tool cannot be used.
fn problem(tool: &wire::Tool) -> Option<String> {
    let name = tool.name.as_ref();
    if name.is_empty() {
        return Some("it has no name".to_owned());
    }
    if name.chars().count() > MAX_WIRE_NAME {
        return Some(format!(
            "its name is longer than {MAX_WIRE_NAME} characters"
        ));
    }
    if name.chars().any(is_control) {
        return Some("its name holds control characters".to_owned());
    }
    let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
    let beyond = schemas.into_iter().flatten().find_map(|schema| {
        if schema
            .values()
            .any(|value| !is_within(value, MAX_SCHEMA_DEPTH))
        {
            return Some(format!(
                "its schema is nested deeper than {MAX_SCHEMA_DEPTH}"
            ));
        }
        let size = serde_json::to_string(schema).map_or(usize::MAX, |text| text.len());
        (size > MAX_SCHEMA_BYTES)
            .then(|| format!("its schema has more than {MAX_SCHEMA_BYTES} bytes"))
    });
    beyond.or_else(|| {
        let is_usable = can_be_object(arguments(&tool.input_schema));
        (!is_usable).then(|| "the schema of its arguments is not that of an object".to_owned())
    })
}

/// Returns whether an object can be as a schema says. The providers turn references and unions into a schema of an
/// object.
fn can_be_object(schema: JsonObject) -> bool {
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        return true;
    }
    let holds_one = |values: Option<&Value>| match values {
        Some(Value::Array(values)) => values.iter().any(Value::is_object),
        _ => true,
    };
    let is_object = |value: Option<&Value>| value.is_none_or(Value::is_object);
    holds_one(schema.get("enum"))
        && is_object(schema.get("const"))
        && object_schema(&Value::Object(schema)).is_some()
}

/// Returns whether a value is nested no deeper than this.
pub(crate) fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_within(item, depth - 1)),
        Value::Object(fields) => {
            depth > 0 && fields.values().all(|field| is_within(field, depth - 1))
        }
        _ => true,
    }
}

/// Returns a description without what no person sees, and not too long.
fn description(text: &str) -> String {
    cleaned(text, MAX_DESCRIPTION_BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, schema: &Value) -> wire::Tool {
        serde_json::from_value(json!({"name": name, "inputSchema": schema})).unwrap()
    }

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!(true), |inner, _| json!({"not": inner}))
    }

    #[test]
    fn names_fit_every_provider() {
        assert_eq!(name(Some("files"), "read.file"), "files__read_file");
        assert_eq!(name(None, "read-file"), "read-file");
        let (one, other) = ("x".repeat(100), format!("{}y", "x".repeat(99)));
        assert_eq!(name(Some("s"), &one).len(), MAX_NAME);
        assert_ne!(name(Some("s"), &one), name(Some("s"), &other));
    }

    #[test]
    fn what_cannot_be_used_is_left_out_with_the_reason() {
        let object = json!({"type": "object"});
        let mut deep = object.clone();
        deep["properties"] = nested(40);
        let mut big = object.clone();
        big["description"] = json!("x".repeat(MAX_SCHEMA_BYTES));
        let sorted = sort(
            None,
            vec![
                tool("good", &object),
                tool("a.b", &object),
                tool("a.b", &object),
                tool("", &object),
                tool("evil\u{1b}[2J", &object),
                tool("hidden\u{e0041}", &object),
                tool(&"n".repeat(200), &object),
                tool("list", &json!({"type": "array"})),
                tool("deep", &deep),
                tool("big", &big),
            ],
        );
        let usable: Vec<_> = sorted.usable.iter().map(|(own, _)| own.as_str()).collect();
        assert_eq!(usable, ["good", "a.b"]);
        let reasons: Vec<_> = sorted
            .left_out
            .iter()
            .map(|tool| tool.reason.as_str())
            .collect();
        assert_eq!(
            reasons,
            [
                "another tool of the server is called a.b already",
                "it has no name",
                "its name holds control characters",
                "its name holds control characters",
                "its name is longer than 128 characters",
                "the schema of its arguments is not that of an object",
                "its schema is nested deeper than 32",
                "its schema has more than 65536 bytes",
            ]
        );
    }

    #[test]
    fn tools_whose_names_become_the_same_have_names_that_no_order_changes() {
        let object = json!({"type": "object"});
        let named = |own: &[&str]| -> BTreeMap<String, String> {
            let tools = own.iter().map(|own| tool(own, &object)).collect();
            let usable = sort(Some("s"), tools).usable.into_iter();
            usable.map(|(own, it)| (own, it.name)).collect()
        };
        let names = named(&["a.b", "a/b"]);
        assert_eq!(names["a.b"], "s__a_b");
        assert!(names["a/b"].starts_with("s__a_b_"), "{names:?}");
        let mut others = named(&["a/b", "other", "a.b"]);
        others.remove("other");
        assert_eq!(names, others);
        // Who is called so itself stays so.
        let names = named(&["a.b", "a_b", "a/b"]);
        assert_eq!(names["a_b"], "s__a_b");
        assert_eq!(BTreeSet::from_iter(names.values()).len(), 3, "{names:?}");
        let long = "x".repeat(80);
        let names = named(&[&format!("{long}.b"), &format!("{long}/b")]);
        assert_eq!(BTreeSet::from_iter(names.values()).len(), 2, "{names:?}");
        assert!(names.values().all(|name| name.len() <= MAX_NAME));
    }

    #[test]
    fn a_schema_without_a_type_or_with_nulls_is_one_of_an_object() {
        let read = |schema: Value| from_wire(tool("t", &schema)).input_schema;
        let object = json!({"type": "object"});
        assert_eq!(read(json!({})), object);
        let nulls = json!({"type": "object", "properties": null, "required": null});
        assert_eq!(read(nulls), object);
        let properties = json!({"properties": {"a": {}}});
        assert_eq!(read(properties)["type"], "object");
    }

    #[test]
    fn a_schema_at_whose_top_others_are_combined_is_one_of_an_object_if_any_object_fits() {
        let is_usable = |schema: Value| sort(None, vec![tool("t", &schema)]).left_out.is_empty();
        let object = json!({"type": "object", "properties": {"a": {}}});
        for schema in [
            json!({"anyOf": [object, {"type": "string"}]}),
            json!({"oneOf": [object, object]}),
            json!({"allOf": [object]}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": object}}),
            json!({"type": ["object", "null"]}),
            json!({"enum": [{"a": 1}]}),
        ] {
            assert!(is_usable(schema.clone()), "{schema}");
        }
        for schema in [
            json!({"anyOf": [{"type": "string"}, {"type": "array"}]}),
            json!({"oneOf": [{"type": "null"}]}),
            json!({"allOf": [object, {"type": "string"}]}),
            json!({"$ref": "#/$defs/B", "$defs": {"A": object}}),
            json!({"$ref": "https://example.com/a"}),
            json!({"type": ["string", "null"]}),
            json!({"type": 7}),
            json!({"enum": ["a", "b"]}),
            json!({"const": 1}),
        ] {
            assert!(!is_usable(schema.clone()), "{schema}");
        }
    }

    #[test]
    fn what_an_argument_is_for_is_known_behind_a_reference_too() {
        let path = json!({"properties": {"file": {"type": "string", "format": "path"}}});
        let schema = json!({"$ref": "#/$defs/A", "$defs": {"A": path}});
        let definition = from_wire(tool("t", &schema));
        assert_eq!(definition.arguments.get("file"), Some(&ArgumentKind::Path));
    }

    #[test]
    fn descriptions_hide_nothing_and_end() {
        assert_eq!(description("a\u{200b}b\u{1b}\n\tc"), "ab\n\tc");
        assert!(description(&"é".repeat(MAX_DESCRIPTION_BYTES)).len() < MAX_DESCRIPTION_BYTES + 8);
    }
}
