use std::{borrow::Cow, collections::BTreeSet};

use neuron_provider_http::{Deferral, Tools, closed_schema, tool_fields};
use neuron_types::{CompletionRequest, ProviderError, RequestHead, ToolDefinition, object_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::request::{marker::Marker, search};

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
    /// The API's own search.
    Search {
        #[serde(rename = "type")]
        kind: &'static str,
        name: &'static str,
    },
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    defer_loading: bool,
    #[serde(skip)]
    is_deferred: bool,
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Marker>,
}

/// Returns the API's own tools, then those of the request: a marker on the last of these covers them all. What is no
/// schema of an object is left out.
///
/// Where tools are searched, those that were found stay deferred as long as the conversation refers to them: the API puts their
/// definitions in the place of its reference, and what it has cached of the request stays good.
pub(crate) fn tools<'a>(
    request: &'a CompletionRequest,
    native: &'a [Value],
) -> Result<Tools<'a, Tool<'a>>, ProviderError> {
    let mut tools = Tools::default();
    tools.take_native(native, Tool::Native);
    if search::is_added(request, native) {
        let (kind, name) = (search::KIND, search::NAME);
        tools.add(name, Tool::Search { kind, name });
    }
    let found = match request.searched_tools.is_empty() {
        true => BTreeSet::new(),
        false => search::found(request),
    };
    tools.take(request.listed_tools(), |tool| {
        definition(request, tool, found.contains(tool.name.as_str()))
    })?;
    tools.take(&request.searched_tools, |tool| {
        definition(request, tool, true)
    })?;
    Ok(tools)
}

fn definition<'a>(
    request: &RequestHead,
    tool: &'a ToolDefinition,
    is_searched: bool,
) -> Result<Option<Tool<'a>>, ProviderError> {
    let Some(schema) = object_schema(&tool.input_schema) else {
        return Ok(None);
    };
    let extra = tool_fields(tool, PLACED)?;
    let Deferral {
        is_deferred,
        is_added,
    } = Deferral::of(request, tool, is_searched);
    // The API takes no marker on a tool that is deferred.
    let cache_control = tool.cache_control.as_ref().filter(|_| !is_deferred);
    Ok(Some(Tool::Own(Definition {
        name: &tool.name,
        description: &tool.description,
        // What the model is held to may have no open objects.
        input_schema: match tool.strict {
            Some(true) => Cow::Owned(closed_schema(&schema).into_owned()),
            _ => schema,
        },
        strict: tool.strict,
        defer_loading: is_added,
        is_deferred,
        extra,
        cache_control: cache_control.map(Marker::from),
    })))
}

impl Tool<'_> {
    /// Returns the marker that the tool came with.
    pub(crate) fn marker(&self) -> Option<Marker> {
        match self {
            Self::Own(tool) => tool.cache_control,
            Self::Search { .. } => None,
            Self::Native(tool) => Marker::of_native(tool),
        }
    }

    /// Ends a cached prefix here. Returns false where the API allows no marker: on tools that are looked for
    /// before they are loaded.
    pub(crate) fn mark(&mut self, marker: Marker) -> bool {
        let Self::Own(tool) = self else {
            return false;
        };
        if !tool.is_deferred {
            tool.cache_control = Some(marker);
        }
        !tool.is_deferred
    }
}
