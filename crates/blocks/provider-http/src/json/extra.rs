use std::borrow::Cow;

use neuron_types::{
    CompletionRequest, FailureKind, ProviderError, RequestHead, ToolChoice, ToolDefinition,
};
use serde_json::{Map, Value};

/// Returns the fields of [`RequestHead::extra`](neuron_types::RequestHead::extra), checked.
///
/// `reserved` are the names that `extra` may not set, because the request has a field of its own for them
/// or because the answer could not be read.
///
/// # Errors
///
/// An invalid request, where `extra` is not an object or sets a reserved field.
pub fn extra_fields<'a>(
    request: &'a CompletionRequest,
    reserved: &[&str],
) -> Result<Option<&'a Map<String, Value>>, ProviderError> {
    let fields = match &request.extra {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(fields)) => fields,
        Some(_) => {
            return Err(invalid(
                "`extra` is not a JSON object: give it the further fields of the request body by name",
            ));
        }
    };
    match reserved.iter().find(|name| fields.contains_key(**name)) {
        Some(name) => Err(invalid(format!(
            "`extra` may not set `{name}`: take it out and use the request's own fields"
        ))),
        None => Ok(Some(fields)),
    }
}

/// Returns the fields of [`ToolDefinition::extra`], checked.
///
/// `reserved` are the names that it may not set, because a definition has fields of its own for them.
///
/// # Errors
///
/// An invalid request, where it is not an object or sets a reserved field.
pub fn tool_fields<'a>(
    tool: &'a ToolDefinition,
    reserved: &[&str],
) -> Result<Option<&'a Map<String, Value>>, ProviderError> {
    let name = &tool.name;
    let fields = match &tool.extra {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(fields)) => fields,
        Some(_) => {
            return Err(invalid(format!(
                "`extra` of the tool {name:?} is not a JSON object: give it the further fields of the \
                 definition by name"
            )));
        }
    };
    match reserved.iter().find(|name| fields.contains_key(**name)) {
        Some(field) => Err(invalid(format!(
            "`extra` of the tool {name:?} may not set `{field}`: take it out and use the definition's own \
             fields"
        ))),
        None => Ok(Some(fields)),
    }
}

/// Whether a model reads a tool only once a search has found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deferral {
    /// Whether the tool is deferred.
    pub is_deferred: bool,
    /// Whether the definition has to have the field `defer_loading` for that: its `extra` does not set it.
    pub is_added: bool,
}

impl Deferral {
    /// Returns it for a tool that is searched or not. `extra` of the tool decides where it sets `defer_loading`, else a tool that
    /// the request's choice names is not deferred, since it has to be called.
    #[must_use]
    pub fn of(request: &RequestHead, tool: &ToolDefinition, is_searched: bool) -> Self {
        let extra = tool.extra.as_ref();
        if let Some(said) = extra.and_then(|extra| extra.get("defer_loading")) {
            return Self {
                is_deferred: *said == Value::Bool(true),
                is_added: false,
            };
        }
        let is_chosen = match &request.tool_choice {
            Some(ToolChoice::Specific { name }) => *name == tool.name,
            _ => false,
        };
        let is_deferred = is_searched && !is_chosen;
        Self {
            is_deferred,
            is_added: is_deferred,
        }
    }
}

/// Returns the fields of `extra` that `keep` names: the others join what the request has itself. Nothing is
/// copied where that is all of them.
pub fn kept(
    extra: &Map<String, Value>,
    keep: impl Fn(&str) -> bool,
) -> Cow<'_, Map<String, Value>> {
    if extra.keys().all(|name| keep(name)) {
        return Cow::Borrowed(extra);
    }
    let fields = extra.iter().filter(|(name, _)| keep(name));
    Cow::Owned(
        fields
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

/// Returns the provider's own tools, which are the `tools` of [`RequestHead::extra`](neuron_types::RequestHead::extra).
///
/// # Errors
///
/// An invalid request, where they are no array.
pub fn native_tools(extra: Option<&Map<String, Value>>) -> Result<&[Value], ProviderError> {
    match extra.and_then(|extra| extra.get("tools")) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(tools)) => Ok(tools),
        Some(_) => Err(invalid(
            "`extra.tools` is not an array: give it the provider's own tools, each as its API has it",
        )),
    }
}

fn invalid(message: impl Into<String>) -> ProviderError {
    ProviderError::new(FailureKind::InvalidRequest, message)
}
