use std::borrow::Cow;

use neuron_provider_http::{
    BodyWriter, Tools, extra_fields, kept, name_of_native, native_tools, tool_fields,
};
use neuron_types::{CompletionRequest, ProviderError, ReasoningEffort, ResponseFormat, ToolChoice};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    chat::dialect::Dialect,
    chat::message::{self, ChatMessage},
    model::Model,
    reasoning::{effort, refuse},
    schema::Parameters,
};

const RESERVED: &[&str] = &["model", "messages", "stream"];

/// What a definition of a tool has fields of its own for.
const TOOL_FIELDS: &[&str] = &["name", "description", "parameters", "strict"];

/// A request body that borrows the conversation.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    request: &'a CompletionRequest,
    messages: Vec<ChatMessage<'a>>,
    token_limit: &'static str,
    tools: Tools<Tool<'a>>,
    tool_choice: Option<Choice<'a>>,
    response_format: Option<Format<'a>>,
    reasoning_effort: Option<ReasoningEffort>,
    stream: bool,
    stream_options: Option<StreamOptions>,
    extra: Option<Cow<'a, Map<String, Value>>>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        function: Function<'a>,
    },
    /// One of the server's own, in its words.
    #[serde(untagged)]
    Native(&'a Value),
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
    parameters: Parameters<'a>,
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Mode(&'static str),
    Function(NamedFunction<'a>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct NamedFunction<'a> {
    function: Name<'a>,
}

#[derive(Debug, Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: Schema<'a> },
}

#[derive(Debug, Serialize)]
struct Schema<'a> {
    name: &'a str,
    schema: &'a Value,
    strict: bool,
}

impl<'a> Body<'a> {
    /// Writes down what to send, and refuses what cannot be said.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        dialect: &'a Dialect,
        stream: bool,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        let tools = tools(request, native_tools(extra)?)?;
        if request.context_management.is_some() {
            return Err(refuse(
                "chat completions cannot compact the conversation: leave `context_management` unset",
            ));
        }
        let mut reasoning_effort = effort(request)?;
        if let Some(model) = Model::known(&request.model).filter(|_| dialect.check_models) {
            reasoning_effort = model.check(request, reasoning_effort)?;
            model.check_chat_tools(request, reasoning_effort)?;
        }
        Ok(Self {
            request,
            messages: message::messages(request, dialect)?,
            token_limit: dialect.token_limit.name(),
            tool_choice: tool_choice(request, !tools.sent.is_empty()),
            tools,
            response_format: response_format(request),
            reasoning_effort,
            stream,
            stream_options: (stream && dialect.stream_usage).then_some(StreamOptions {
                include_usage: true,
            }),
            extra: extra.map(|extra| kept(extra, |name| name != "tools")),
        })
    }
}

impl Body<'_> {
    /// The names of the tools, in the order in which they are sent.
    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.sent.iter().map(Tool::name)
    }

    /// What is left out, each a sentence.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.tools.left_out
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut body = BodyWriter::begin(serializer, self.extra.as_deref())?;
        body.field("model", &request.model)?;
        body.optional(self.token_limit, request.max_tokens.as_ref())?;
        body.optional("temperature", request.temperature.as_ref())?;
        body.optional("top_p", request.top_p.as_ref())?;
        if !request.stop_sequences.is_empty() {
            body.field("stop", &request.stop_sequences)?;
        }
        body.optional("reasoning_effort", self.reasoning_effort.as_ref())?;
        body.optional("response_format", self.response_format.as_ref())?;
        if !self.tools.sent.is_empty() {
            body.field("tools", &self.tools.sent)?;
        }
        body.optional("tool_choice", self.tool_choice.as_ref())?;
        if !self.tools.sent.is_empty() {
            body.optional("parallel_tool_calls", request.parallel_tool_calls.as_ref())?;
        }
        if self.stream {
            body.field("stream", &true)?;
            body.optional("stream_options", self.stream_options.as_ref())?;
        }
        body.field("messages", &self.messages)?;
        body.end()
    }
}

/// Those of the request, then the server's own, and what is said of those that are left out.
fn tools<'a>(
    request: &'a CompletionRequest,
    native: &'a [Value],
) -> Result<Tools<Tool<'a>>, ProviderError> {
    let mut tools = Tools::default();
    for tool in &request.tools {
        match Parameters::of(tool)? {
            Some(parameters) => tools.sent.push(Tool::Function {
                function: Function {
                    name: &tool.name,
                    description: &tool.description,
                    strict: tool.strict,
                    parameters,
                    extra: tool_fields(tool, TOOL_FIELDS)?,
                },
            }),
            None => tools.leave_out(&tool.name),
        }
    }
    tools.sent.extend(native.iter().map(Tool::Native));
    Ok(tools)
}

impl Tool<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Function { function } => function.name,
            Self::Native(tool) => name_of_native(tool),
        }
    }
}

/// Without tools there is nothing to choose, and servers refuse to be told so.
fn tool_choice(request: &CompletionRequest, has_tools: bool) -> Option<Choice<'_>> {
    match request.tool_choice.as_ref()? {
        ToolChoice::Auto | ToolChoice::None if !has_tools => None,
        ToolChoice::Auto => Some(Choice::Mode("auto")),
        ToolChoice::None => Some(Choice::Mode("none")),
        ToolChoice::Required => Some(Choice::Mode("required")),
        ToolChoice::Specific { name } => Some(Choice::Function(NamedFunction {
            function: Name { name },
        })),
    }
}

fn response_format(request: &CompletionRequest) -> Option<Format<'_>> {
    match request.response_format.as_ref()? {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(Format::JsonObject),
        ResponseFormat::JsonSchema {
            name,
            schema,
            strict,
        } => Some(Format::JsonSchema {
            json_schema: Schema {
                name,
                schema,
                strict: *strict,
            },
        }),
    }
}
