//! What the macros write is made of. Not part of what this crate promises.

use neuron_types::{ToolAnnotations, ToolDefinition, WasmBoxedFuture};
pub use schemars;
pub use serde;
pub use serde_json;
use serde_json::{Map, Value};

/// What the function of a tool returns.
#[diagnostic::on_unimplemented(
    message = "a tool returns a `Result`, and this one returns `{Self}`",
    label = "this is no `Result`",
    note = "return `Result<T, E>`: the model reads `T`, and `E` says what went wrong"
)]
pub trait ToolResult {
    /// What the model reads.
    type Output;
    /// What went wrong.
    type Error;
}

impl<T, E> ToolResult for Result<T, E> {
    type Output = T;
    type Error = E;
}

/// A call of a method.
pub type CallFuture<'a, T, E> = WasmBoxedFuture<'a, Result<T, E>>;

/// Returns the definition of a tool that a macro made.
#[must_use]
pub fn definition<Args: schemars::JsonSchema>(
    name: &str,
    title: Option<String>,
    description: &str,
    annotations: Option<ToolAnnotations>,
) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        title,
        description: description.to_owned(),
        input_schema: crate::input_schema::<Args>(),
        arguments: crate::argument_kinds::<Args>(),
        annotations,
        ..ToolDefinition::default()
    }
}

/// What `#[tool(…)]` says about one argument.
#[derive(Debug, Clone)]
pub struct Field {
    /// The name that a call has for it.
    pub name: &'static str,
    /// What the model reads of it.
    pub description: Option<&'static str>,
    /// What it is where a call leaves it out.
    pub default: Option<Value>,
}

/// Returns the definition with what is said about single arguments: an argument with a default may be left out.
#[must_use]
pub fn described<const N: usize>(mut tool: ToolDefinition, fields: [Field; N]) -> ToolDefinition {
    let Some(schema) = tool.input_schema.as_object_mut() else {
        return tool;
    };
    for field in fields {
        if field.default.is_some()
            && let Some(Value::Array(required)) = schema.get_mut("required")
        {
            required.retain(|name| name != field.name);
            if required.is_empty() {
                schema.remove("required");
            }
        }
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        let Some(property) = properties.and_then(|known| known.get_mut(field.name)) else {
            continue;
        };
        // `true` is the schema of what may be anything.
        if property.is_boolean() {
            *property = Value::Object(Map::new());
        }
        if let Some(property) = property.as_object_mut() {
            let description = field.description.map(Value::from);
            property.extend(description.map(|text| ("description".to_owned(), text)));
            property.extend(field.default.map(|value| ("default".to_owned(), value)));
        }
    }
    tool
}

/// Returns the arguments of a call with the defaults of those that it leaves out.
#[must_use]
pub fn filled<const N: usize>(mut input: Value, fields: [Field; N]) -> Value {
    if let Some(arguments) = input.as_object_mut() {
        for field in fields {
            if let Some(default) = field.default {
                arguments.entry(field.name).or_insert(default);
            }
        }
    }
    input
}
