//! Tools: what a model may call, and how the calls are made.
//!
//! - A [`ToolRegistry`] holds tools by name and makes calls.
//! - [Middleware](middleware) wraps calls: to log, check, change, refuse or answer them.
//! - [`builtin`] has the tools of a coding agent (files, search, shell) and three layers of middleware.
//!
//! # Write a tool
//!
//! A tool is a type with typed arguments. Their JSON Schema, and the comments on their fields, are what the
//! model is told.
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
mod definition;
mod edit_file;
mod file_error;
mod glob;
mod grep;
mod head_tail;
mod list_files;
pub mod middleware;
mod options;
mod output_formatter;
mod permission_checker;
mod process_group;
mod read_file;
mod registry;
mod replace;
mod root;
mod schema_validator;
mod text;
mod walk;
mod write_file;

pub use neuron_types::{
    Tool, ToolAnnotations, ToolCall, ToolContext, ToolDefinition, ToolDyn, ToolEffects, ToolError,
    ToolOutput,
};

pub use self::{
    builtin::{BUILTIN_TOOLS, BuiltinOptions, READ_ONLY_TOOLS, builtin_tools},
    middleware::{Next, ToolMiddleware, tool_middleware_fn},
    registry::ToolRegistry,
};
