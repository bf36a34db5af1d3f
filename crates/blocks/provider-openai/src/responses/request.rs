use std::borrow::Cow;

use neuron_provider_http::{
    BodyWriter, Joined, Tools, extra_fields, kept, name_of_native, native_tools, tool_fields,
};
use neuron_types::{
    CompletionRequest, ContextEdit, ProviderError, ReasoningEffort, ResponseFormat, ToolChoice,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    model::Model,
    reasoning::{effort, refuse},
    responses::item::{self, Item},
    responses::settings::ResponsesSettings,
    schema::Parameters,
};

/// A response that is made in the background would have to be fetched, which is not done here.
const RESERVED: &[&str] = &["model", "input", "stream", "background"];

/// The fields of `extra` that the API takes when it only counts.
const COUNTED: &[&str] = &[
    "conversation",
    "instructions",
    "parallel_tool_calls",
    "personality",
    "previous_response_id",
    "reasoning",
    "text",
    "tool_choice",
    "truncation",
];

/// Those that it takes when it compacts.
const COMPACTED: &[&str] = &[
    "image",
    "instructions",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
];

/// What a definition of a tool has fields of its own for.
const TOOL_FIELDS: &[&str] = &["type", "name", "description", "parameters", "strict"];

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Answer,
    Stream,
    Count,
    Compaction,
}

/// A request body that borrows the conversation.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    request: &'a CompletionRequest,
    instructions: Option<Joined<'a>>,
    input: Vec<Item<'a>>,
    tools: Tools<Tool<'a>>,
    tool_choice: Option<Choice<'a>>,
    text: Option<TextSettings<'a>>,
    reasoning: Option<Reasoning>,
    context_management: Vec<Edit<'a>>,
    encrypted_reasoning: bool,
    purpose: Purpose,
    extra: Option<Cow<'a, Map<String, Value>>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tool<'a> {
    Function {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        parameters: Parameters<'a>,
        /// Said in so many words, since the API's default is not that of Chat Completions.
        strict: bool,
        #[serde(flatten)]
        extra: Option<&'a Map<String, Value>>,
    },
    /// One of the API's own, in its words.
    #[serde(untagged)]
    Native(&'a Value),
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
    name: &'a str,
}

#[derive(Debug, Serialize)]
struct TextSettings<'a> {
    format: Format<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema {
        name: &'a str,
        schema: &'a Value,
        strict: bool,
    },
}

#[derive(Debug, Serialize)]
struct Reasoning {
    effort: ReasoningEffort,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Edit<'a> {
    Compact {
        #[serde(rename = "type")]
        strategy: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        compact_threshold: Option<u64>,
    },
    Native(&'a Value),
}

impl<'a> Body<'a> {
    /// Writes down what to send, and refuses what cannot be said.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        settings: &ResponsesSettings,
        purpose: Purpose,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        let tools = tools(request, native_tools(extra)?)?;
        if !request.stop_sequences.is_empty() {
            return Err(refuse(
                "openai's responses take no stop sequences: leave `stop_sequences` empty",
            ));
        }
        let mut effort = effort(request)?;
        let model = Model::known(&request.model).filter(|_| settings.check_models);
        if let Some(model) = model {
            effort = model.check(request, effort)?;
        }
        Ok(Self {
            request,
            instructions: Joined::instructions(request.system.as_ref()),
            input: item::items(&request.messages),
            tool_choice: tool_choice(request, !tools.sent.is_empty()),
            tools,
            text: format(request).map(|format| TextSettings { format }),
            reasoning: effort.map(|effort| Reasoning { effort }),
            context_management: edits(request)?,
            encrypted_reasoning: settings.encrypted_reasoning && model.is_none_or(Model::reasons),
            purpose,
            extra: extra.map(|extra| {
                kept(extra, |name| match purpose {
                    Purpose::Answer | Purpose::Stream => name != "tools",
                    Purpose::Count => COUNTED.contains(&name),
                    Purpose::Compaction => COMPACTED.contains(&name),
                })
            }),
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
        let answers = matches!(self.purpose, Purpose::Answer | Purpose::Stream);
        let mut body = BodyWriter::begin(serializer, self.extra.as_deref())?;
        body.field("model", &request.model)?;
        if answers {
            body.field("store", &false)?;
            if self.encrypted_reasoning {
                body.field("include", &["reasoning.encrypted_content"])?;
            }
            body.optional("max_output_tokens", request.max_tokens.as_ref())?;
            body.optional("temperature", request.temperature.as_ref())?;
            body.optional("top_p", request.top_p.as_ref())?;
        }
        if self.purpose != Purpose::Compaction {
            body.optional("reasoning", self.reasoning.as_ref())?;
            body.optional("text", self.text.as_ref())?;
        }
        if answers && !self.context_management.is_empty() {
            body.field("context_management", &self.context_management)?;
        }
        body.optional("instructions", self.instructions.as_ref())?;
        if self.purpose != Purpose::Compaction {
            if !self.tools.sent.is_empty() {
                body.field("tools", &self.tools.sent)?;
            }
            body.optional("tool_choice", self.tool_choice.as_ref())?;
            if !self.tools.sent.is_empty() {
                body.optional("parallel_tool_calls", request.parallel_tool_calls.as_ref())?;
            }
        }
        if self.purpose == Purpose::Stream {
            body.field("stream", &true)?;
        }
        body.field("input", &self.input)?;
        body.end()
    }
}

/// Those of the request, then the API's own, and what is said of those that are left out.
fn tools<'a>(
    request: &'a CompletionRequest,
    native: &'a [Value],
) -> Result<Tools<Tool<'a>>, ProviderError> {
    let mut tools = Tools::default();
    for tool in &request.tools {
        match Parameters::of(tool)? {
            Some(parameters) => tools.sent.push(Tool::Function {
                name: &tool.name,
                description: &tool.description,
                parameters,
                strict: tool.strict == Some(true),
                extra: tool_fields(tool, TOOL_FIELDS)?,
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
            Self::Function { name, .. } => name,
            Self::Native(tool) => name_of_native(tool),
        }
    }
}

/// Without tools there is nothing to choose.
fn tool_choice(request: &CompletionRequest, has_tools: bool) -> Option<Choice<'_>> {
    match request.tool_choice.as_ref()? {
        ToolChoice::Auto | ToolChoice::None if !has_tools => None,
        ToolChoice::Auto => Some(Choice::Mode("auto")),
        ToolChoice::None => Some(Choice::Mode("none")),
        ToolChoice::Required => Some(Choice::Mode("required")),
        ToolChoice::Specific { name } => Some(Choice::Function(NamedFunction { name })),
    }
}

fn format(request: &CompletionRequest) -> Option<Format<'_>> {
    match request.response_format.as_ref()? {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(Format::JsonObject),
        ResponseFormat::JsonSchema {
            name,
            schema,
            strict,
        } => Some(Format::JsonSchema {
            name,
            schema,
            strict: *strict,
        }),
    }
}

fn edits(request: &CompletionRequest) -> Result<Vec<Edit<'_>>, ProviderError> {
    let edits = request.context_management.iter().flat_map(|m| &m.edits);
    edits
        .map(|edit| match edit {
            ContextEdit::Compact {
                strategy,
                at_tokens,
                instructions: None,
            } => Ok(Edit::Compact {
                strategy,
                compact_threshold: *at_tokens,
            }),
            ContextEdit::Compact { .. } => Err(refuse(
                "openai compacts without instructions: leave the edit's `instructions` unset",
            )),
            ContextEdit::Native(edit) => Ok(Edit::Native(edit)),
            _ => Err(refuse(
                "openai can compact the context, and edit it in no other way: take the other edits out of \
                 `context_management`",
            )),
        })
        .collect()
}
