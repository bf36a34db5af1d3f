//! Which of a server's tools can be used here, and under which name.

use std::collections::BTreeSet;

use neuron_types::{ArgumentKind, ToolAnnotations, ToolDefinition, hex};
use rmcp::model::{self as wire, JsonObject};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::wire::fault::{cleaned, is_control, shown};

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

/// A tool that a server lists and that cannot be used.
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

/// Sorts out what cannot be used, and gives the rest names that providers take.
pub(crate) fn sort(prefix: Option<&str>, tools: Vec<wire::Tool>) -> Sorted {
    let mut sorted = Sorted::default();
    let mut taken = BTreeSet::new();
    for tool in tools {
        let own = tool.name.clone().into_owned();
        let name = name(prefix, &own);
        let problem = problem(&tool).or_else(|| {
            taken
                .contains(&name)
                .then(|| format!("another tool of the server is called {name} already"))
        });
        if let Some(reason) = problem {
            sorted.left_out.push(LeftOut {
                name: shown(&own, MAX_WIRE_NAME),
                reason,
            });
            continue;
        }
        taken.insert(name.clone());
        let definition = ToolDefinition {
            name,
            ..from_wire(tool)
        };
        sorted.usable.push((own, definition));
    }
    sorted
}

/// A definition under the server's own name.
pub(crate) fn from_wire(tool: wire::Tool) -> ToolDefinition {
    let hints = tool.annotations;
    let title = tool
        .title
        .or_else(|| hints.as_ref().and_then(|hints| hints.title.clone()));
    let input_schema = Value::Object(JsonObject::clone(&tool.input_schema));
    ToolDefinition {
        arguments: ArgumentKind::in_schema(&input_schema),
        input_schema,
        name: tool.name.into_owned(),
        title: title.map(|title| shown(&title, MAX_WIRE_NAME)),
        description: description(tool.description.as_deref().unwrap_or_default()),
        output_schema: tool
            .output_schema
            .map(|schema| Value::Object(JsonObject::clone(&schema))),
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

/// Our definition as MCP has it.
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

/// A name that providers take: `prefix__name`, other characters than letters, digits, `_` and `-` replaced by
/// `_`. One that would be too long is cut, with a digest to tell it from others.
fn name(prefix: Option<&str>, own: &str) -> String {
    let mut name: String = match prefix {
        Some(prefix) => format!("{prefix}__{own}"),
        None => own.to_owned(),
    };
    name = name
        .chars()
        .map(|c| match c {
            '_' | '-' => c,
            c if c.is_ascii_alphanumeric() => c,
            _ => '_',
        })
        .collect();
    if name.len() > MAX_NAME {
        let digest = Sha256::digest(own.as_bytes());
        name.truncate(MAX_NAME - 9);
        name.push('_');
        name.push_str(&hex(digest.get(..4).unwrap_or_default()));
    }
    name
}

/// Why a tool cannot be used.
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
    if tool.input_schema.get("type").and_then(Value::as_str) != Some("object") {
        return Some("the schema of its arguments is not that of an object".to_owned());
    }
    let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
    schemas.into_iter().flatten().find_map(|schema| {
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
    })
}

/// Whether a value is nested no deeper than this.
pub(crate) fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| is_within(item, depth - 1)),
        Value::Object(fields) => {
            depth > 0 && fields.values().all(|field| is_within(field, depth - 1))
        }
        _ => true,
    }
}

/// A description without what no person sees, and not too long.
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
                tool("a_b", &object),
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
                "another tool of the server is called a_b already",
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
    fn descriptions_hide_nothing_and_end() {
        assert_eq!(description("a\u{200b}b\u{1b}\n\tc"), "ab\n\tc");
        assert!(description(&"é".repeat(MAX_DESCRIPTION_BYTES)).len() < MAX_DESCRIPTION_BYTES + 8);
    }
}
