//! Tools: what the model may call.

use std::{any::Any, error::Error, future::Future};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    CacheControl, ContentItem, ToolContext, ToolError, WasmBoxedFuture, WasmCompatSend,
    WasmCompatSync,
};

/// A tool with typed arguments and a typed result.
///
/// Every `Tool` is a [`ToolDyn`], which parses the arguments, serialises the result and maps the error:
/// an `Error` that is a [`ToolError`] is kept as it is, any other becomes [`ToolError::ExecutionFailed`].
///
/// ```
/// use neuron_types::{Tool, ToolContext, ToolDefinition, ToolDyn, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Debug, Deserialize, JsonSchema)]
/// struct SearchArgs {
///     /// What to look for.
///     query: String,
///     max_results: Option<usize>,
/// }
///
/// struct SearchTool {
///     api_key: String,
/// }
///
/// impl Tool for SearchTool {
///     const NAME: &'static str = "search";
///     type Args = SearchArgs;
///     type Output = Vec<String>;
///     type Error = std::io::Error;
///
///     fn definition(&self) -> ToolDefinition {
///         ToolDefinition {
///             name: "search".into(),
///             title: Some("Web Search".into()),
///             description: "Search the web for information".into(),
///             input_schema: schemars::schema_for!(SearchArgs).to_value(),
///             ..ToolDefinition::default()
///         }
///     }
///
///     async fn call(&self, args: SearchArgs, _ctx: &ToolContext) -> Result<Vec<String>, std::io::Error> {
///         if self.api_key.is_empty() {
///             return Err(std::io::Error::other("there is no key"));
///         }
///         let max = args.max_results.unwrap_or(5);
///         Ok(vec![format!("Result for '{}' (max {max})", args.query)])
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let (tool, ctx) = (SearchTool { api_key: "key".into() }, ToolContext::default());
/// let schema = Tool::definition(&tool).input_schema;
/// assert_eq!(schema["properties"]["query"]["description"], "What to look for.");
///
/// let output = tool.call_dyn(json!({"query": "rust"}), &ctx).await?;
/// let text = json!(["Result for 'rust' (max 5)"]).to_string();
/// assert_eq!(output, neuron_types::ToolOutput::text(text));
/// assert!(matches!(tool.call_dyn(json!({}), &ctx).await, Err(ToolError::ModelRetry(_))));
/// let no_key = SearchTool { api_key: String::new() };
/// let failed = no_key.call_dyn(json!({"query": "rust"}), &ctx).await;
/// assert!(matches!(failed, Err(ToolError::ExecutionFailed(_))));
/// # Ok(())
/// # }
/// ```
pub trait Tool: WasmCompatSend + WasmCompatSync {
    /// The name that the model calls it by: `[a-zA-Z0-9_-]{1,64}`.
    const NAME: &'static str;
    /// The arguments.
    type Args: DeserializeOwned + schemars::JsonSchema + WasmCompatSend;
    /// The result. A string and a [`ToolOutput`] reach the model as they are, anything else as JSON.
    type Output: Serialize + 'static;
    /// What can go wrong.
    type Error: Error + Send + Sync + 'static;

    /// What the model is told about this tool. Its annotations decide how a failed call is retried.
    fn definition(&self) -> ToolDefinition;

    /// Performs the call.
    ///
    /// May be called again with the same [`ToolContext::idempotency_key`] after a failure or a crash,
    /// unless the tool is a write (see [`ToolEffects`]). Dropping the future must stop the work.
    ///
    /// # Errors
    ///
    /// See [`ToolError`] for which errors the model gets to see and which end the run.
    fn call(
        &self,
        args: Self::Args,
        ctx: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, Self::Error>> + WasmCompatSend;
}

/// [`Tool`] without its types, for registries and for tools that are known only at run time.
pub trait ToolDyn: WasmCompatSend + WasmCompatSync {
    /// See [`Tool::NAME`].
    fn name(&self) -> &str;

    /// See [`Tool::definition`].
    fn definition(&self) -> ToolDefinition;

    /// See [`Tool::call`]. Arguments that do not fit are a [`ToolError::ModelRetry`].
    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>>;

    /// Whether whoever performs the call checks the arguments, so that nobody need check them against
    /// [`ToolDefinition::input_schema`] before. True for tools whose schema comes from a stranger: checking
    /// against a schema can be made to take for ever. Default is false.
    fn checks_arguments(&self) -> bool {
        false
    }
}

impl<T: Tool> ToolDyn for T {
    fn name(&self) -> &str {
        T::NAME
    }

    fn definition(&self) -> ToolDefinition {
        Tool::definition(self)
    }

    fn call_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let args = serde_json::from_value(input).map_err(|error| {
                ToolError::ModelRetry(format!("the arguments do not fit the schema: {error}"))
            })?;
            let output = self.call(args, ctx).await.map_err(ToolError::from_tool)?;
            ToolOutput::from_tool(output)
                .map_err(|error| ToolError::ExecutionFailed(Box::new(error)))
        })
    }
}

/// One call that the model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the answer must carry.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments.
    pub input: Value,
}

/// What the model is told about a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolDefinition {
    /// See [`Tool::NAME`].
    pub name: String,
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When to call it and what comes back.
    pub description: String,
    /// JSON Schema of the arguments; its type is `object`.
    pub input_schema: Value,
    /// JSON Schema of [`ToolOutput::structured_content`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What a call does to the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations>,
    /// Ends a cached prefix here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
    /// The provider holds the model to the schema while it writes the arguments. A provider that cannot does
    /// without; the provider's default, which is no, where `None`. Not every schema can be held to: the
    /// provider's crate says which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
    /// Further fields of the provider's definition of a tool, by its own names, such as `input_examples` or
    /// `defer_loading`. What has a field here cannot be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
}

/// What a call does to the world, in the words of the Model Context Protocol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolAnnotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice with the same arguments is the same as calling it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond this system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// What may be done with a call whose attempt failed or was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffects {
    /// It changes nothing: repeat it freely.
    ReadOnly,
    /// Repeating it is harmless, with the same idempotency key.
    Idempotent,
    /// One attempt. If its outcome is unknown it is not called again unless a person says so.
    Write,
}

impl ToolDefinition {
    /// What its annotations promise. A tool that promises nothing is a write.
    #[must_use]
    pub fn effects(&self) -> ToolEffects {
        match &self.annotations {
            Some(hints) if hints.read_only_hint == Some(true) => ToolEffects::ReadOnly,
            Some(hints) if hints.idempotent_hint == Some(true) => ToolEffects::Idempotent,
            _ => ToolEffects::Write,
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model reads.
    pub content: Vec<ContentItem>,
    /// The same for programs, fitting [`ToolDefinition::output_schema`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// The call failed, and `content` says why.
    #[serde(default)]
    pub is_error: bool,
}

impl ToolOutput {
    /// A result of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentItem::Text(text.into())],
            ..Self::default()
        }
    }

    /// A failure that the model reads as one text.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// What a tool returned: a `ToolOutput` is itself, anything else goes through
    /// [`from_value`](Self::from_value).
    ///
    /// # Errors
    ///
    /// If JSON cannot hold the result.
    pub fn from_tool<T: Serialize + 'static>(output: T) -> Result<Self, serde_json::Error> {
        let mut output = Some(output);
        let whole: Option<&mut Option<Self>> = (&mut output as &mut dyn Any).downcast_mut();
        match whole.and_then(Option::take) {
            Some(whole) => Ok(whole),
            None => serde_json::to_value(output).map(Self::from_value),
        }
    }

    /// A result as JSON: a string is its own text, null is an empty text, anything else is JSON text with an
    /// object kept as structured content too.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        match value {
            Value::String(text) => Self::text(text),
            Value::Null => Self::text(""),
            Value::Object(_) => Self {
                structured_content: Some(value.clone()),
                ..Self::text(value.to_string())
            },
            other => Self::text(other.to_string()),
        }
    }
}
