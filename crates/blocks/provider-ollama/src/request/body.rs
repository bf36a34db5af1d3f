use std::borrow::Cow;

use neuron_provider_http::{BodyWriter, Tools, extra_fields, kept, tool_fields};
use neuron_types::{
    CompletionRequest, ProviderError, ResponseFormat, ToolChoice, ToolDefinition, object_schema,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    request::message::{self, SentMessage},
    request::model::{Model, Wanted},
    request::schema,
    settings::Settings,
    think::{self, Think, refuse},
};

const RESERVED: &[&str] = &["model", "messages", "stream"];

/// A request body that borrows the conversation.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    request: &'a CompletionRequest,
    settings: &'a Settings,
    messages: Vec<SentMessage<'a>>,
    pub(crate) tools: Tools<'a, Tool<'a>>,
    think: Option<Think>,
    /// The fields of `extra` but for its options.
    extra: Option<Cow<'a, Map<String, Value>>>,
    extra_options: Option<&'a Map<String, Value>>,
    pub(crate) stream: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Tool<'a> {
    Function { function: Function<'a> },
}

#[derive(Debug, Serialize)]
pub(crate) struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: Cow<'a, Value>,
    #[serde(flatten)]
    extra: Option<&'a Map<String, Value>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Format<'a> {
    Any(&'static str),
    Schema(&'a Value),
}

impl<'a> Body<'a> {
    /// Writes down what to send, and rejects what cannot be expressed.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        settings: &'a Settings,
        stream: bool,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        if request.context_management.is_some() {
            return Err(refuse(
                "ollama cannot edit the conversation: leave `context_management` unset",
            ));
        }
        if request.parallel_tool_calls == Some(false) {
            return Err(refuse(
                "ollama cannot keep a model from several calls at once: leave `parallel_tool_calls` unset",
            ));
        }
        Ok(Self {
            request,
            settings,
            messages: message::messages(request)?,
            tools: tools(request)?,
            think: think::asked(request)?.or(settings.think),
            extra: extra.map(|extra| kept(extra, |name| name != "options")),
            extra_options: options(extra.and_then(|extra| extra.get("options")))?,
            stream,
        })
    }

    /// Returns what the model must be able to do.
    pub(crate) fn wanted(&self) -> Wanted {
        let num_ctx = match self
            .extra_options
            .and_then(|options| options.get("num_ctx"))
        {
            Some(value) => value.as_u64(),
            None => self.settings.num_ctx,
        };
        Wanted::new(
            self.request,
            !self.tools.sent.is_empty(),
            self.think,
            num_ctx,
        )
    }

    /// Adapts the request to what this model understands.
    pub(crate) fn adapt(&mut self, model: &Model) {
        self.think = model.think(self.think);
    }
}

/// Returns the options of `extra`, which join the request's own.
fn options(options: Option<&Value>) -> Result<Option<&Map<String, Value>>, ProviderError> {
    match options {
        None => Ok(None),
        Some(Value::Object(options)) => Ok(Some(options)),
        Some(_) => Err(refuse(
            "`extra.options` is not a JSON object: give it ollama's options by name",
        )),
    }
}

fn tools(request: &CompletionRequest) -> Result<Tools<'_, Tool<'_>>, ProviderError> {
    let mut tools = Tools::default();
    match &request.tool_choice {
        None | Some(ToolChoice::Auto) => {}
        Some(ToolChoice::None) => return Ok(tools),
        Some(ToolChoice::Required | ToolChoice::Specific { .. }) => {
            return Err(refuse(
                "ollama cannot make a model call a tool: leave `tool_choice` unset and ask for the call in \
                 the prompt",
            ));
        }
    }
    tools.take(&request.tools, |tool| {
        let Some(parameters) = parameters(tool) else {
            return Ok(None);
        };
        let function = Function {
            name: &tool.name,
            description: &tool.description,
            parameters,
            extra: tool_fields(tool, &["name", "description", "parameters"])?,
        };
        Ok(Some(Tool::Function { function }))
    })?;
    Ok(tools)
}

fn parameters(tool: &ToolDefinition) -> Option<Cow<'_, Value>> {
    Some(match object_schema(&tool.input_schema)? {
        Cow::Borrowed(schema) => schema::inlined(schema),
        Cow::Owned(schema) => Cow::Owned(schema::inlined(&schema).into_owned()),
    })
}

impl Body<'_> {
    /// Returns how many messages the conversation has.
    pub(crate) fn messages(&self) -> usize {
        self.request.messages.len()
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = BodyWriter::begin(serializer, self.extra.as_deref())?;
        body.field("model", &self.request.model)?;
        body.field("stream", &self.stream)?;
        if !self.tools.sent.is_empty() {
            body.field("tools", &self.tools.sent)?;
        }
        body.optional("think", self.think.as_ref())?;
        body.optional("format", format(self.request).as_ref())?;
        body.optional("keep_alive", self.settings.keep_alive.as_ref())?;
        // The server would otherwise forget what was said first, and not report it.
        body.field("truncate", &false)?;
        body.field("shift", &false)?;
        let options = Options(self);
        if options.any() {
            body.field("options", &options)?;
        }
        body.field("messages", &self.messages)?;
        body.end()
    }
}

fn format(request: &CompletionRequest) -> Option<Format<'_>> {
    match request.response_format.as_ref()? {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(Format::Any("json")),
        ResponseFormat::JsonSchema { schema, .. } => Some(Format::Schema(schema)),
    }
}

struct Options<'a>(&'a Body<'a>);

impl Options<'_> {
    fn any(&self) -> bool {
        let request = self.0.request;
        self.0.settings.num_ctx.is_some()
            || self.0.extra_options.is_some_and(|extra| !extra.is_empty())
            || request.max_tokens.is_some()
            || request.temperature.is_some()
            || request.top_p.is_some()
            || !request.stop_sequences.is_empty()
    }
}

impl Serialize for Options<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.0.request;
        let mut options = BodyWriter::begin(serializer, self.0.extra_options)?;
        options.optional("num_ctx", self.0.settings.num_ctx.as_ref())?;
        options.optional("num_predict", request.max_tokens.as_ref())?;
        options.optional("temperature", request.temperature.as_ref())?;
        options.optional("top_p", request.top_p.as_ref())?;
        if !request.stop_sequences.is_empty() {
            options.field("stop", &request.stop_sequences)?;
        }
        options.end()
    }
}
