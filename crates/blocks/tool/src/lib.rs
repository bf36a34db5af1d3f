#![doc = include_str!("../README.md")]

pub mod builtin;
mod call_tool;
mod definition;
#[cfg(feature = "builtin")]
mod diff;
pub mod middleware;
mod registry;
#[cfg(feature = "builtin")]
pub mod sandbox;
mod text;

#[doc(hidden)]
pub mod __private;
mod layers;

pub use neuron_types::{
    Preview, Tool, ToolAnnotations, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolEffects,
    ToolError, ToolOutput,
};

/// Makes a tool of a struct of arguments, which says by [`CallTool`] what a call does.
///
/// A struct `ReadLine` gets a tool `ReadLineTool` beside it. Doc comments become the descriptions of the tool
/// and of its arguments. `#[tool(…)]` takes the options of [`neuron_tool`] before the struct, and before a field those of
/// an [argument](macro@neuron_tool#arguments).
///
/// ```
/// use neuron_tool::{CallTool, Tool, ToolContext, ToolRegistry};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Tool, Deserialize, JsonSchema)]
/// #[tool(name = "read_file", description = "Read contents of a file", read_only)]
/// struct ReadFile {
///     #[tool(description = "Absolute path to the file to read")]
///     path: String,
///     #[tool(description = "Maximum number of lines to read", default = 2000)]
///     max_lines: Option<usize>,
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
/// assert_eq!(schema["properties"]["max_lines"]["default"], 2000);
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
pub use neuron_macros::Tool;
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
///         return Err(WeatherError(format!("under water, run {:?}", ctx.run_id)));
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
/// | `previews = path` | what a call would do says this function: see [`Tool::preview`](trait@Tool) |
/// | `outcomes = path` | what became of a call says this one, by `ctx.idempotency_key`: see [`Tool::outcome`](trait@Tool) |
///
/// A tool that is neither `read_only` nor `idempotent` is a write, which is attempted once. Each of these
/// four can be denied too: `destructive = false`.
///
/// The functions of `previews` and `outcomes` are asynchronous and take what the tool's function takes, a method's
/// `&self` included; those of a struct take it and `&ToolContext`. They return a `Result` of `Option<Preview>`, and of an
/// `Option` of what the tool returns, with its error:
///
/// ```
/// use neuron_tool::{Preview, Tool, ToolContext, ToolError, neuron_tool};
///
/// /// Pays the supplier.
/// #[neuron_tool(previews = would_pay, outcomes = was_paid)]
/// async fn pay(cents: u32, ctx: &ToolContext) -> Result<String, ToolError> {
///     Ok(format!("paid {cents} as {}", ctx.idempotency_key))
/// }
///
/// async fn would_pay(cents: u32, _: &ToolContext) -> Result<Option<Preview>, ToolError> {
///     let text = Some(format!("{cents} cents leave the account"));
///     Ok(Some(Preview { text, ..Preview::default() }))
/// }
///
/// async fn was_paid(_: u32, ctx: &ToolContext) -> Result<Option<String>, ToolError> {
///     // A real one asks the bank.
///     Ok(ctx.idempotency_key.starts_with('a').then(|| "paid".to_owned()))
/// }
///
/// let definition = PayTool.definition();
/// assert!(definition.previews && definition.outcomes);
/// ```
///
/// # Arguments
///
/// `#[tool(…)]` before a parameter, or before a field of a struct with [`derive(Tool)`](derive@Tool), takes these:
///
/// | Option | Is |
/// | --- | --- |
/// | `description = "…"` | the description of the argument; its doc comment where it is left out |
/// | `default = …` | what the argument is if a call leaves it out, as a model would write it: a text, a number, `true`, `false` or a list of them |
///
/// The schema has the default, and does not require the argument. An argument that a call gives as `null` is given. The
/// name of the argument may be another by serde's `rename` and `rename_all`.
///
/// ```
/// use neuron_tool::{ToolContext, ToolError, ToolRegistry, neuron_tool};
/// use serde_json::json;
///
/// /// Greets somebody.
/// #[neuron_tool(read_only)]
/// async fn greet(
///     #[tool(description = "Whom to greet", default = "World")] name: String,
/// ) -> Result<String, ToolError> {
///     Ok(format!("Hello, {name}!"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let mut registry = ToolRegistry::new();
/// registry.register(GreetTool);
/// let output = registry.execute("greet", json!({}), &ToolContext::default()).await?;
/// assert_eq!(output, neuron_tool::ToolOutput::text("Hello, World!"));
/// # Ok(())
/// # }
/// ```
///
/// A default of another type than its argument does not compile where that type is a number, a text or a flag:
///
/// ```compile_fail,E0308
/// # use neuron_tool::{ToolError, neuron_tool};
/// /// Greets somebody.
/// #[neuron_tool]
/// async fn greet(#[tool(default = "three")] times: u32) -> Result<String, ToolError> {
///     Ok("Hello! ".repeat(times as usize))
/// }
/// ```
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
pub use neuron_macros::neuron_tool;

#[cfg(feature = "builtin")]
pub use self::{
    builtin::{
        BUILTIN_TOOLS, BuiltinOptions, NAMED_TOOLS, READ_ONLY_TOOLS, builtin_tools, check_sandbox,
        named_tools,
    },
    diff::unified_diff,
};
pub use self::{
    call_tool::CallTool,
    definition::{argument_kinds, input_schema},
    layers::schema_validator::schema_mismatch,
    middleware::{Next, ToolMiddleware, tool_middleware_fn},
    registry::ToolRegistry,
};
