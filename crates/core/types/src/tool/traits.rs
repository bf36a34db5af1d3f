//! Tools: what the model may call.

use std::{any::Any, error::Error, future::Future, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    Preview, ToolContext, ToolDefinition, ToolError, ToolOutput, WasmBoxedFuture, WasmCompatSend,
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

    /// Returns what the model reads about this tool. Its annotations decide how a failed call is retried.
    fn definition(&self) -> ToolDefinition;

    /// Returns the arguments of a call with what the model may leave out and the tool has a value for. They are parsed
    /// after it. Default is the arguments as they are.
    fn fill_in(&self, input: Value) -> Value {
        input
    }

    /// Performs the call.
    ///
    /// May be called again with the same [`ToolContext::idempotency_key`] after a failure or a crash,
    /// unless the tool is a write (see [`ToolEffects`](crate::ToolEffects)). Dropping the future must stop the work.
    ///
    /// # Errors
    ///
    /// See [`ToolError`] for which errors the model gets to see and which end the run.
    fn call(
        &self,
        args: Self::Args,
        ctx: &ToolContext,
    ) -> impl Future<Output = Result<Self::Output, Self::Error>> + WasmCompatSend;

    /// Says what a call would do, for the person who is asked about it; `None` if there is nothing to say beyond the
    /// arguments. It changes nothing.
    ///
    /// It is called only where the [definition](ToolDefinition::previews) announces previews, and only about calls that
    /// a person is asked about. A diff or a text beyond 64 KiB is cut there. [`Preview::fingerprint`], in at most 1024
    /// bytes, comes back as [`ToolContext::preview`] when the call is made. Default is `None`.
    ///
    /// # Errors
    ///
    /// Why the call would fail as things are: the person who is asked reads it.
    fn preview(
        &self,
        _args: Self::Args,
        _ctx: &ToolContext,
    ) -> impl Future<Output = Result<Option<Preview>, Self::Error>> + WasmCompatSend {
        std::future::ready(Ok(None))
    }

    /// Says what became of a call that was made with this idempotency key and whose outcome is unknown: its worker was
    /// lost, or it had no result in time. `None` if the tool does not know it either. It changes nothing and makes no call.
    ///
    /// It is called only where the [definition](ToolDefinition::outcomes) announces that it can answer, and only about
    /// writes: any other call is made again. What it returns is the call's result. After `None` the model, or a person,
    /// learns that the outcome is unknown. [`ToolContext::idempotency_key`] is the call's here too. An unknown key is
    /// no proof that nothing happens any more: the call may still be on its way. Default is `None`.
    ///
    /// # Errors
    ///
    /// After [`ToolError::Unavailable`] and others that may pass it is called again; after any other the outcome is
    /// unknown.
    fn outcome(
        &self,
        _key: &str,
        _args: Self::Args,
        _ctx: &ToolContext,
    ) -> impl Future<Output = Result<Option<Self::Output>, Self::Error>> + WasmCompatSend {
        async { Ok(None) }
    }
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

    /// See [`Tool::preview`]. Default is `None`.
    fn preview_dyn<'a>(
        &'a self,
        _input: Value,
        _ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<Option<Preview>, ToolError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// See [`Tool::outcome`]. Default is `None`.
    fn outcome_dyn<'a>(
        &'a self,
        _key: &'a str,
        _input: Value,
        _ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Returns whether the tool itself checks the arguments, so that they need not be checked against
    /// [`ToolDefinition::input_schema`] before. True for tools whose schema comes from a stranger: checking against a
    /// schema can be made to take for ever. Default is false.
    fn checks_arguments(&self) -> bool {
        false
    }

    /// Checks whether the tool can be used in this process at all, so that an agent with the tool fails when the agent
    /// is built and not when it calls the tool. Default is that it can.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    fn ready(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// Returns the same tool with another setting of the process that it works in, which its type identifies: its
    /// sandbox, for one. `None` if it has no such setting, which is the default.
    fn with_setting(&self, _setting: &dyn Any) -> Option<Arc<dyn ToolDyn>> {
        None
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
            let args = read_args(self.fill_in(input))?;
            let output = self.call(args, ctx).await.map_err(ToolError::from_tool)?;
            written(output)
        })
    }

    fn preview_dyn<'a>(
        &'a self,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<Option<Preview>, ToolError>> {
        Box::pin(async move {
            let args = read_args(self.fill_in(input))?;
            self.preview(args, ctx).await.map_err(ToolError::from_tool)
        })
    }

    fn outcome_dyn<'a>(
        &'a self,
        key: &'a str,
        input: Value,
        ctx: &'a ToolContext,
    ) -> WasmBoxedFuture<'a, Result<Option<ToolOutput>, ToolError>> {
        Box::pin(async move {
            let args = read_args(self.fill_in(input))?;
            let outcome = self.outcome(key, args, ctx).await;
            match outcome.map_err(ToolError::from_tool)? {
                Some(output) => written(output).map(Some),
                None => Ok(None),
            }
        })
    }
}

fn read_args<T: DeserializeOwned>(input: Value) -> Result<T, ToolError> {
    serde_json::from_value(input).map_err(|error| {
        ToolError::ModelRetry(format!("the arguments do not fit the schema: {error}"))
    })
}

fn written<T: Serialize + 'static>(output: T) -> Result<ToolOutput, ToolError> {
    ToolOutput::from_tool(output).map_err(|error| ToolError::ExecutionFailed(Box::new(error)))
}
