use std::{collections::BTreeMap, fmt, fmt::Write as _};

use jsonschema::Validator;
use neuron_types::{ToolContext, ToolError, ToolOutput, WasmBoxedFuture};
use serde_json::Value;

use crate::{
    ToolRegistry,
    middleware::{Next, ToolCall, ToolMiddleware},
    text::first_chars,
};

/// How many problems of one call are named.
const MAX_PROBLEMS: usize = 5;
/// How much of one problem and of its place is shown: they may quote a whole argument.
const MAX_PROBLEM_CHARS: usize = 300;

/// Checks the arguments of each call against the tool's JSON Schema before the tool sees them.
///
/// Arguments that do not fit are a [`ToolError::ModelRetry`] that names where and what, so that the model
/// can call again. The schemas are compiled once, when the validator is made; a schema may not refer to
/// other documents.
///
/// ```
/// use neuron_tool::{
///     BuiltinOptions, ToolContext, ToolError, ToolRegistry, builtin::SchemaValidator, builtin_tools,
/// };
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut registry = ToolRegistry::from_iter(builtin_tools(&BuiltinOptions::default()));
/// let validator = SchemaValidator::new(&registry);
/// registry.add_middleware(validator);
///
/// let result = registry.execute("read_file", json!({"path": 3}), &ToolContext::default()).await;
/// let Err(ToolError::ModelRetry(hint)) = result else { panic!("a path is a text") };
/// assert_eq!(
///     hint,
///     "the arguments do not fit the schema of read_file; at /path: 3 is not of type \"string\"",
/// );
/// # }
/// ```
pub struct SchemaValidator {
    schemas: BTreeMap<String, Validator>,
    unchecked: BTreeMap<String, String>,
}

impl SchemaValidator {
    /// Makes a validator for the tools that are in the registry now. Calls to tools that are registered later pass
    /// unchecked, and so do calls to tools that check their arguments themselves.
    #[must_use]
    pub fn new(registry: &ToolRegistry) -> Self {
        let mut schemas = BTreeMap::new();
        let mut unchecked = BTreeMap::new();
        let checked_here = registry
            .names()
            .filter_map(|name| registry.get(name))
            .filter(|tool| !tool.checks_arguments());
        for definition in checked_here.map(|tool| tool.definition()) {
            match jsonschema::validator_for(&definition.input_schema) {
                Ok(schema) => {
                    schemas.insert(definition.name, schema);
                }
                Err(error) => {
                    unchecked.insert(definition.name, error.to_string());
                }
            }
        }
        Self { schemas, unchecked }
    }

    /// Returns the tools whose schema could not be compiled, each with the reason. Their calls pass unchecked.
    pub fn unchecked(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unchecked
            .iter()
            .map(|(tool, reason)| (tool.as_str(), reason.as_str()))
    }

    fn check(&self, tool: &str, input: &Value) -> Result<(), ToolError> {
        let Some(schema) = self.schemas.get(tool) else {
            return Ok(());
        };
        if schema.is_valid(input) {
            return Ok(());
        }
        let what = format!("the arguments do not fit the schema of {tool}");
        Err(ToolError::ModelRetry(problems(schema, &what, input)))
    }
}

/// Returns what is wrong with a value that does not fit a JSON Schema, for a model to read; `None` if it fits, or if
/// the schema cannot be read.
///
/// ```
/// use neuron_tool::schema_mismatch;
/// use serde_json::json;
///
/// let schema = json!({"type": "object", "properties": {"total": {"type": "number"}}});
/// assert_eq!(schema_mismatch(&schema, &json!({"total": 3})), None);
/// let wrong = schema_mismatch(&schema, &json!({"total": "3"})).unwrap_or_default();
/// assert_eq!(wrong, "it does not fit its schema; at /total: \"3\" is not of type \"number\"");
/// ```
#[must_use]
pub fn schema_mismatch(schema: &Value, value: &Value) -> Option<String> {
    let schema = jsonschema::validator_for(schema).ok()?;
    if schema.is_valid(value) {
        return None;
    }
    Some(problems(&schema, "it does not fit its schema", value))
}

fn problems(schema: &Validator, what: &str, input: &Value) -> String {
    let mut text = what.to_owned();
    let mut errors = schema.iter_errors(input);
    for error in errors.by_ref().take(MAX_PROBLEMS) {
        let message = error.to_string();
        let path = match error.instance_path().as_str() {
            "" => "the top level",
            path => path,
        };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "; at {}: {}",
            first_chars(path, MAX_PROBLEM_CHARS),
            first_chars(&message, MAX_PROBLEM_CHARS)
        );
    }
    if errors.next().is_some() {
        text.push_str("; and more");
    }
    text
}

impl ToolMiddleware for SchemaValidator {
    fn process<'a>(
        &'a self,
        call: &'a ToolCall,
        ctx: &'a ToolContext,
        next: Next<'a>,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        match self.check(&call.name, &call.input) {
            Ok(()) => next.run(call, ctx),
            Err(error) => Box::pin(async { Err(error) }),
        }
    }
}

impl fmt::Debug for SchemaValidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaValidator")
            .field("tools", &self.schemas.keys())
            .field("unchecked", &self.unchecked)
            .finish()
    }
}
