use std::borrow::Cow;

use neuron_provider_http::{Tools, closed_schema, tool_fields};
use neuron_types::{CompletionRequest, ProviderError, ToolDefinition, object_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::request::marker::Marker;

/// What a definition has fields of its own for.
const PLACED: &[&str] = &[
    "name",
    "description",
    "input_schema",
    "strict",
    "cache_control",
];

/// A tool as it is sent.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Tool<'a> {
    Own(Definition<'a>),
    /// One of the API's own, in its words.
    Native(&'a Value),
}

#[derive(Debug, Serialize)]
pub(crate) struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Cow<'a, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Marker>,
}

/// Returns the API's own tools, then those of the request: a marker on the last of these covers them all. What is no
/// schema of an object is left out.
pub(crate) fn tools<'a>(
    request: &'a CompletionRequest,
    native: &'a [Value],
) -> Result<Tools<'a, Tool<'a>>, ProviderError> {
    let mut tools = Tools::default();
    tools.take_native(native, Tool::Native);
    tools.take(&request.tools, definition)?;
    Ok(tools)
}

fn definition(tool: &ToolDefinition) -> Result<Option<Tool<'_>>, ProviderError> {
    let Some(schema) = object_schema(&tool.input_schema) else {
        return Ok(None);
    };
    Ok(Some(Tool::Own(Definition {
        name: &tool.name,
        description: &tool.description,
        // What the model is held to may have no open objects.
        input_schema: match tool.strict {
            Some(true) => Cow::Owned(closed_schema(&schema).into_owned()),
            _ => schema,
        },
        strict: tool.strict,
        extra: tool_fields(tool, PLACED)?,
        cache_control: tool.cache_control.as_ref().map(Marker::from),
    })))
}

impl Tool<'_> {
    /// Returns the marker that the tool came with.
    pub(crate) fn marker(&self) -> Option<Marker> {
        match self {
            Self::Own(tool) => tool.cache_control,
            Self::Native(tool) => Marker::of_native(tool),
        }
    }

    /// Ends a cached prefix here. Returns false where the API allows no marker: on tools that are looked for
    /// before they are loaded.
    pub(crate) fn mark(&mut self, marker: Marker) -> bool {
        let Self::Own(tool) = self else {
            return false;
        };
        let deferred = tool.extra.and_then(|extra| extra.get("defer_loading"));
        let markable = deferred != Some(&Value::Bool(true));
        if markable {
            tool.cache_control = Some(marker);
        }
        markable
    }
}
