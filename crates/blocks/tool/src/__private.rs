//! What the macros write is made of. No part of what this crate promises.

use neuron_types::{ToolAnnotations, ToolDefinition, WasmBoxedFuture};
pub use schemars;
pub use serde;

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

/// The definition of a tool that a macro made.
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
