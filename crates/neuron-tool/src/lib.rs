//! Tools: what a model may call, and how the calls are made.
//!
//! - A [`ToolRegistry`] holds tools by name and makes calls.
//! - [Middleware](middleware) wraps calls: to log, check, change, refuse or answer them.
//! - [`builtin`] has the tools of a coding agent (files, search, shell) and layers of middleware.
//!
//! # Write a tool
//!
//! [`#[neuron_tool]`](macro@neuron_tool) makes a tool of an `async fn`:
//!
//! ```
//! use neuron_tool::{ToolContext, ToolRegistry, neuron_tool};
//!
//! #[neuron_tool(name = "lookup", description = "Look up a value by key", read_only)]
//! async fn lookup(
//!     /// The key to look up
//!     key: String,
//!     _ctx: &ToolContext,
//! ) -> Result<String, std::io::Error> {
//!     Ok(format!("value for {key}"))
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), neuron_tool::ToolError> {
//! let mut registry = ToolRegistry::new();
//! registry.register(LookupTool);
//!
//! let ctx = ToolContext::default();
//! let output = registry.execute("lookup", serde_json::json!({"key": "foo"}), &ctx).await?;
//! assert_eq!(output, neuron_tool::ToolOutput::text("value for foo"));
//! # Ok(())
//! # }
//! ```
//!
//! [`#[derive(Tool)]`](derive@Tool) makes one of a struct of arguments. By hand, a tool is a type with typed
//! arguments. Their JSON Schema, and the comments on their fields, are what the model is told.
//!
//! ```
//! use neuron_tool::{Tool, ToolContext, ToolDefinition, ToolError, ToolRegistry};
//! use schemars::{JsonSchema, schema_for};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct LookupArgs {
//!     /// The key to look up.
//!     key: String,
//! }
//!
//! struct Lookup;
//!
//! impl Tool for Lookup {
//!     const NAME: &'static str = "lookup";
//!     type Args = LookupArgs;
//!     type Output = String;
//!     type Error = ToolError;
//!
//!     fn definition(&self) -> ToolDefinition {
//!         ToolDefinition {
//!             name: Self::NAME.into(),
//!             description: "Looks up a value by key.".into(),
//!             input_schema: schema_for!(LookupArgs).to_value(),
//!             ..ToolDefinition::default()
//!         }
//!     }
//!
//!     async fn call(&self, args: LookupArgs, _ctx: &ToolContext) -> Result<String, ToolError> {
//!         match args.key.as_str() {
//!             "answer" => Ok("42".into()),
//!             key => Err(ToolError::ModelRetry(format!("there is no {key}; try answer"))),
//!         }
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), ToolError> {
//! let mut registry = ToolRegistry::new();
//! registry.register(Lookup);
//!
//! let input = serde_json::json!({"key": "answer"});
//! let output = registry.execute("lookup", input, &ToolContext::default()).await?;
//! assert_eq!(output, neuron_tool::ToolOutput::text("42"));
//! # Ok(())
//! # }
//! ```
//!
//! Say in [`ToolDefinition::annotations`] what a call does to the world: a tool that says nothing counts as
//! a write, which is attempted once and never repeated. Choose the [`ToolError`] by who can help:
//! [`ModelRetry`](ToolError::ModelRetry) where the model can call again with better arguments,
//! [`InvalidInput`](ToolError::InvalidInput) where nothing can make the input right and the run must end.
//!
//! # Wrap calls
//!
//! ```
//! use neuron_tool::{
//!     BuiltinOptions, ToolRegistry,
//!     builtin::{OutputFormatter, SchemaValidator},
//!     builtin_tools, tool_middleware_fn,
//! };
//!
//! let mut registry = ToolRegistry::new();
//! for tool in builtin_tools(&BuiltinOptions::default()) {
//!     registry.register_dyn(tool);
//! }
//!
//! let validator = SchemaValidator::new(&registry);
//! registry
//!     .add_middleware(tool_middleware_fn(|call, ctx, next| {
//!         Box::pin(async move {
//!             eprintln!("calling {}", call.name);
//!             next.run(call, ctx).await
//!         })
//!     }))
//!     .add_middleware(validator)
//!     .add_tool_middleware("bash", OutputFormatter::new(10_000));
//! ```
//!
//! Layers run in the order in which they were added: first those for every tool, then those of the called
//! tool, then the tool.
//!
//! | Layer | Does |
//! | --- | --- |
//! | [`SchemaValidator`](builtin::SchemaValidator) | checks arguments against the schemas of the tools |
//! | [`PermissionChecker`](builtin::PermissionChecker) | refuses what a policy does not allow |
//! | [`HookRunner`](builtin::HookRunner) | asks a hook before and after each call |
//! | [`Timeout`](builtin::Timeout) | ends calls that take too long |
//! | [`ConcurrencyLimit`](builtin::ConcurrencyLimit) | has calls wait while too many are going on |
//! | [`RateLimit`](builtin::RateLimit) | has calls wait that come too fast |
//! | [`OutputFormatter`](builtin::OutputFormatter) | cuts long results |
//!
//! # Built-in tools
//!
//! | Name | Does | Effects |
//! | --- | --- | --- |
//! | `read_file` | reads a text file, or some of its lines | read-only |
//! | `list_files` | lists one directory | read-only |
//! | `glob` | finds files by the pattern of their path | read-only |
//! | `grep` | finds lines by a regular expression | read-only |
//! | `write_file` | writes a whole file | idempotent, destructive |
//! | `edit_file` | replaces a text in a file | write, destructive |
//! | `bash` | runs a command | write, destructive, open world |
//!
//! The file tools stay inside [`ToolContext::cwd`] unless [`BuiltinOptions::confine`] is false. `bash`
//! starts there but is not confined: put a container around a process whose agents may call it without
//! asking. Every answer is limited in size and says so where it was cut. Built-in tools need Unix and a
//! tokio runtime.

mod bash;
mod blocking;
pub mod builtin;
mod call_tool;
mod concurrency_limit;
mod definition;
mod edit_file;
mod file_error;
mod glob;
mod grep;
mod head_tail;
mod hook_runner;
mod list_files;
pub mod middleware;
mod options;
mod output_formatter;
mod permission_checker;
mod process_group;
mod rate_limit;
mod read_file;
mod registry;
mod replace;
mod root;
mod schema_validator;
mod secret;
mod text;
mod timeout;
mod turn;
mod walk;
mod write_file;

#[doc(hidden)]
pub mod __private;

pub use neuron_types::{
    Tool, ToolAnnotations, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolEffects, ToolError,
    ToolOutput,
};

/// Makes a tool of a struct of arguments, which says by [`CallTool`] what a call does.
///
/// A struct `ReadLine` gets a tool `ReadLineTool` beside it. Doc comments become the descriptions of the tool
/// and of its arguments. `#[tool(…)]` takes the options of [`neuron_tool`].
///
/// ```
/// use neuron_tool::{CallTool, Tool, ToolContext, ToolRegistry};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Tool, Deserialize, JsonSchema)]
/// #[tool(name = "read_file", description = "Read contents of a file", read_only)]
/// struct ReadFile {
///     /// Absolute path to the file to read
///     path: String,
///     /// Maximum number of lines to read
///     #[serde(default = "default_max_lines")]
///     max_lines: Option<usize>,
/// }
///
/// fn default_max_lines() -> Option<usize> {
///     Some(2000)
/// }
///
/// impl CallTool for ReadFile {
///     type Output = String;
///     type Error = std::io::Error;
///
///     async fn call(self, _ctx: &ToolContext) -> Result<String, std::io::Error> {
///         let text = tokio::fs::read_to_string(&self.path).await?;
///         let lines = text.lines().take(self.max_lines.unwrap_or(usize::MAX));
///         Ok(lines.collect::<Vec<_>>().join("\n"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut registry = ToolRegistry::new();
/// registry.register(ReadFileTool);
///
/// let schema = &registry.definitions()[0].input_schema;
/// assert_eq!(schema["properties"]["path"]["description"], "Absolute path to the file to read");
/// assert_eq!(schema["required"], serde_json::json!(["path"]));
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("poem.txt");
/// std::fs::write(&path, "one\ntwo\nthree\n")?;
/// let input = serde_json::json!({"path": path, "max_lines": 2});
/// let output = registry.execute("read_file", input, &ToolContext::default()).await?;
/// assert_eq!(output, neuron_tool::ToolOutput::text("one\ntwo"));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "macros")]
pub use neuron_tool_macros::Tool;
/// Makes a tool of an `async fn` or a method.
///
/// Doc comments become the descriptions of the tool and of its arguments. A parameter `&ToolContext` gets the
/// surroundings of the call. The function itself stays what it is.
///
/// A function `get_weather` gets a tool `GetWeatherTool` beside it, and its arguments a struct
/// `GetWeatherArgs`. A text that it returns is what the model reads, and anything else is read as JSON, an object as
/// structured content too. The error can be of any type.
///
/// ```
/// use neuron_tool::{ToolContext, ToolError, ToolRegistry, neuron_tool};
/// use serde_json::json;
///
/// #[derive(Debug, serde::Serialize)]
/// struct WeatherOutput {
///     temperature: f64,
///     conditions: String,
/// }
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("weather error: {0}")]
/// struct WeatherError(String);
///
/// /// Gets the current weather of a city.
/// #[neuron_tool(read_only, open_world)]
/// async fn get_weather(
///     /// City name (e.g. "San Francisco")
///     city: String,
///     /// In degrees Fahrenheit.
///     #[serde(default)]
///     imperial: bool,
///     ctx: &ToolContext,
/// ) -> Result<WeatherOutput, WeatherError> {
///     if city == "Atlantis" {
///         return Err(WeatherError(format!("under water, run {:?}", ctx.session_id)));
///     }
///     let temperature = if imperial { 72.0 } else { 22.0 };
///     Ok(WeatherOutput { temperature, conditions: "sunny".into() })
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let mut registry = ToolRegistry::new();
/// registry.register(GetWeatherTool);
/// let schema = &registry.definitions()[0].input_schema;
/// assert_eq!(schema["properties"]["city"]["description"], "City name (e.g. \"San Francisco\")");
///
/// let ctx = ToolContext::default();
/// let output = registry.execute("get_weather", json!({"city": "Turin"}), &ctx).await?;
/// let weather = json!({"temperature": 22.0, "conditions": "sunny"});
/// assert_eq!(output.structured_content, Some(weather));
/// let failed = registry.execute("get_weather", json!({"city": "Atlantis"}), &ctx).await;
/// assert!(matches!(failed, Err(ToolError::ExecutionFailed(_))));
///
/// let args: GetWeatherArgs = serde_json::from_value(json!({"city": "Oslo"})).unwrap();
/// assert!(!args.imperial);
/// # Ok(())
/// # }
/// ```
///
/// # Options
///
/// | Option | Is |
/// | --- | --- |
/// | `name = "…"` | the name; that of the function where it is left out |
/// | `description = "…"` | the description; the doc comment where it is left out |
/// | `title = "…"` | a name for people |
/// | `read_only` | a call changes nothing: it may be repeated |
/// | `idempotent` | calling twice is the same as calling once: it may be repeated |
/// | `destructive` | a call may destroy something |
/// | `open_world` | a call reaches beyond this system |
///
/// A tool that is neither `read_only` nor `idempotent` is a write, which is attempted once. Each of the last
/// four can be denied too: `destructive = false`.
///
/// # What calls share
///
/// A parameter with `#[state]` is what all calls share. The tool is made with it:
///
/// ```
/// use std::{collections::BTreeMap, sync::Arc};
///
/// use neuron_tool::{ToolError, ToolRegistry, neuron_tool};
///
/// type Prices = Arc<BTreeMap<String, u32>>;
///
/// /// Looks up what an article costs.
/// #[neuron_tool(read_only)]
/// async fn price(
///     #[state] prices: &Prices,
///     /// The article.
///     article: String,
/// ) -> Result<u32, ToolError> {
///     let price = prices.get(&article).copied();
///     price.ok_or_else(|| ToolError::ModelRetry(format!("there is no {article}")))
/// }
///
/// let mut registry = ToolRegistry::new();
/// registry.register(PriceTool::new(Prices::default()));
/// ```
///
/// A method shares `self`. It gets another method beside it, which makes the tool:
///
/// ```
/// use std::{io, sync::{Arc, Mutex}};
///
/// use neuron_tool::{ToolRegistry, neuron_tool};
///
/// #[derive(Default)]
/// struct Notes {
///     lines: Mutex<Vec<String>>,
/// }
///
/// impl Notes {
///     /// Writes a note.
///     #[neuron_tool]
///     async fn write_note(&self, text: String) -> io::Result<usize> {
///         let mut lines = self.lines.lock().map_err(|_| io::Error::other("the notes are lost"))?;
///         lines.push(text);
///         Ok(lines.len())
///     }
/// }
///
/// let notes = Arc::new(Notes::default());
/// let mut registry = ToolRegistry::new();
/// registry.register(Arc::clone(&notes).write_note_tool());
/// ```
#[cfg(feature = "macros")]
pub use neuron_tool_macros::neuron_tool;

pub use self::{
    builtin::{BUILTIN_TOOLS, BuiltinOptions, READ_ONLY_TOOLS, builtin_tools},
    call_tool::CallTool,
    definition::input_schema,
    middleware::{Next, ToolMiddleware, tool_middleware_fn},
    registry::ToolRegistry,
    secret::is_secret_variable,
};
