//! What the model reads about the built-in tools.

use std::time::Duration;

use neuron_types::{ToolAnnotations, ToolDefinition};
use schemars::JsonSchema;

use crate::definition::{argument_kinds, input_schema};

/// How long a built-in tool that changes nothing may take, where the agent sets no time. It is short, so that an engine
/// that has the choice makes the call where the run is.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) const fn annotations(
    read_only: bool,
    destructive: bool,
    idempotent: bool,
    open_world: bool,
) -> ToolAnnotations {
    ToolAnnotations {
        read_only_hint: Some(read_only),
        destructive_hint: Some(destructive),
        idempotent_hint: Some(idempotent),
        open_world_hint: Some(open_world),
    }
}

/// Returns the definition of a tool that looks at files and changes nothing.
pub(crate) fn reader<Args: JsonSchema>(
    name: &str,
    title: &str,
    description: String,
) -> ToolDefinition {
    let annotations = annotations(true, false, true, false);
    ToolDefinition {
        timeout: Some(READ_TIMEOUT),
        ..definition::<Args>(name, title, description, annotations)
    }
}

pub(crate) fn definition<Args: JsonSchema>(
    name: &str,
    title: &str,
    description: String,
    annotations: ToolAnnotations,
) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        title: Some(title.to_owned()),
        description,
        input_schema: input_schema::<Args>(),
        arguments: argument_kinds::<Args>(),
        annotations: Some(annotations),
        ..ToolDefinition::default()
    }
}
