//! What the model reads about the arguments of a tool.

use std::collections::BTreeMap;

use neuron_types::ArgumentKind;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::transform_subschemas};
use serde_json::Value;

/// Returns the JSON Schema of a tool's arguments, for [`ToolDefinition::input_schema`](neuron_types::ToolDefinition::input_schema).
///
/// It is the schema that schemars makes, without what says nothing to a model or is not known to every
/// provider: titles, number formats, references.
///
/// ```
/// use neuron_tool::input_schema;
/// use schemars::JsonSchema;
/// use serde_json::json;
///
/// #[derive(JsonSchema)]
/// struct Lookup {
///     /// The key to look up.
///     key: String,
/// }
///
/// let expected = json!({
///     "type": "object",
///     "properties": {"key": {"type": "string", "description": "The key to look up."}},
///     "required": ["key"],
/// });
/// assert_eq!(input_schema::<Lookup>(), expected);
/// ```
#[must_use]
pub fn input_schema<Args: JsonSchema>() -> Value {
    let mut schema = schema_of::<Args>();
    // States whose arguments they are, to the readers of the code.
    schema.remove("description");
    strip(&mut schema);
    schema.to_value()
}

/// Returns what a tool's arguments are for, for [`ToolDefinition::arguments`](neuron_types::ToolDefinition::arguments): as their fields say with
/// `#[schemars(extend("format" = "path"))]` or `"shell-command"`.
///
/// ```
/// use neuron_tool::argument_kinds;
/// use neuron_types::ArgumentKind;
/// use schemars::JsonSchema;
///
/// #[derive(JsonSchema)]
/// struct Format {
///     /// The file to format.
///     #[schemars(extend("format" = "path"))]
///     file: String,
/// }
///
/// assert_eq!(argument_kinds::<Format>(), [("file".to_owned(), ArgumentKind::Path)].into());
/// ```
#[must_use]
pub fn argument_kinds<Args: JsonSchema>() -> BTreeMap<String, ArgumentKind> {
    ArgumentKind::in_schema(schema_of::<Args>().as_value())
}

fn schema_of<Args: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    settings.into_generator().into_root_schema_for::<Args>()
}

/// Removes what says nothing to a model, or is not known to every provider, and the line ends of the code.
fn strip(schema: &mut Schema) {
    schema.remove("title");
    schema.remove("format");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    transform_subschemas(&mut strip, schema);
}
