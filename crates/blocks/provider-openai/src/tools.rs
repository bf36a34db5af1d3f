use neuron_provider_http::{BodyWriter, Deferral, Tools, native_tools, tool_fields};
use neuron_types::{
    CompletionRequest, ContentBlock, ProviderError, RequestHead, ToolChoice, ToolDefinition,
};
use serde::{Serialize, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::{
    form::{Form, Placed},
    schema::Parameters,
};

/// The type of the server's own search.
const SEARCH: &str = "tool_search";

/// The tools of a request, and how the model is to choose among them.
#[derive(Debug)]
pub(crate) struct RequestTools<'a> {
    pub(crate) list: Tools<'a, Tool<'a>>,
    choice: Option<Choice<'a>>,
    parallel: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Tool<'a> {
    Function(Placed<Function<'a>>),
    /// The server's own search.
    #[serde(rename = "tool_search")]
    Search,
    /// One of the server's own, in its words.
    #[serde(untagged)]
    Native(&'a Value),
}

#[derive(Debug, Serialize)]
pub(crate) struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    parameters: Parameters<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    defer_loading: bool,
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Choice<'a> {
    Function(Placed<Name<'a>>),
    #[serde(untagged)]
    Mode(&'static str),
}

#[derive(Debug, Serialize)]
struct Name<'a> {
    name: &'a str,
}

impl<'a> RequestTools<'a> {
    /// Returns the tools of the request, then the server's own, which are in `extra`. Responses searches tools itself: there
    /// the searched ones follow the others, and the search is added unless `extra` has it. It stays while the conversation holds a
    /// search.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        extra: Option<&'a Map<String, Value>>,
        form: Form,
    ) -> Result<Self, ProviderError> {
        let native = native_tools(extra)?;
        let mut list = Tools::default();
        let write = |tool: &'a ToolDefinition, is_searched: bool| {
            let function = function(request, tool, form, is_searched)?;
            Ok(function.map(|function| Tool::Function(form.place("function", function))))
        };
        match form {
            Form::Flat if !request.searched_tools.is_empty() || holds_search(request) => {
                list.take(request.listed_tools(), |tool| write(tool, false))?;
                list.take(&request.searched_tools, |tool| write(tool, true))?;
                if !native.iter().any(is_search) {
                    list.add(SEARCH, Tool::Search);
                }
            }
            _ => list.take(&request.tools, |tool| write(tool, false))?,
        }
        list.take_native(native, Tool::Native);
        let has_tools = !list.sent.is_empty();
        Ok(Self {
            list,
            choice: choice(request, has_tools, form),
            parallel: request.parallel_tool_calls.filter(|_| has_tools),
        })
    }

    /// Writes what there is of them.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        body: &mut BodyWriter<'_, M>,
    ) -> Result<(), M::Error> {
        if !self.list.sent.is_empty() {
            body.field("tools", &self.list.sent)?;
        }
        body.optional("tool_choice", self.choice.as_ref())?;
        body.optional("parallel_tool_calls", self.parallel.as_ref())
    }
}

/// Returns whether a search of the server's is in the conversation.
fn holds_search(request: &CompletionRequest) -> bool {
    let mut blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.any(|block| match block {
        ContentBlock::Other(item) => {
            let kind = item.get("type").and_then(Value::as_str);
            matches!(kind, Some("tool_search_call" | "tool_search_output"))
        }
        _ => false,
    })
}

fn is_search(native: &Value) -> bool {
    native.get("type").and_then(Value::as_str) == Some(SEARCH)
}

/// Returns `None` where the schema of the arguments is not one of an object.
fn function<'a>(
    request: &RequestHead,
    tool: &'a ToolDefinition,
    form: Form,
    is_searched: bool,
) -> Result<Option<Function<'a>>, ProviderError> {
    let Some(parameters) = Parameters::of(tool)? else {
        return Ok(None);
    };
    let (strict, own_fields): (_, &[_]) = match form {
        Form::Nested => (
            tool.strict,
            &["name", "description", "parameters", "strict"],
        ),
        // Stated explicitly, since the default of Responses is not that of Chat Completions.
        Form::Flat => (
            Some(tool.strict == Some(true)),
            &["type", "name", "description", "parameters", "strict"],
        ),
    };
    let extra = tool_fields(tool, own_fields)?;
    Ok(Some(Function {
        name: &tool.name,
        description: &tool.description,
        strict,
        parameters,
        defer_loading: Deferral::of(request, tool, is_searched).is_added,
        extra,
    }))
}

/// Returns the choice of tools. Without tools there is nothing to choose, and servers reject a choice.
fn choice(request: &CompletionRequest, has_tools: bool, form: Form) -> Option<Choice<'_>> {
    match request.tool_choice.as_ref()? {
        ToolChoice::Auto | ToolChoice::None if !has_tools => None,
        ToolChoice::Auto => Some(Choice::Mode("auto")),
        ToolChoice::None => Some(Choice::Mode("none")),
        ToolChoice::Required => Some(Choice::Mode("required")),
        ToolChoice::Specific { name } => {
            Some(Choice::Function(form.place("function", Name { name })))
        }
    }
}
