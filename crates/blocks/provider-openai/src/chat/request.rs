use std::borrow::Cow;

use neuron_provider_http::{BodyWriter, extra_fields, kept};
use neuron_types::{CompletionRequest, ProviderError, ReasoningEffort};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    chat::dialect::Dialect,
    chat::message::{self, ChatMessage},
    form::Form,
    format::Format,
    model::Model,
    reasoning::{effort, refuse},
    tools::RequestTools,
};

const RESERVED: &[&str] = &["model", "messages", "stream"];

/// A request body that borrows the conversation.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    request: &'a CompletionRequest,
    messages: Vec<ChatMessage<'a>>,
    token_limit: &'static str,
    pub(crate) tools: RequestTools<'a>,
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

impl<'a> Body<'a> {
    /// Writes down what to send, and rejects what cannot be expressed.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        dialect: &'a Dialect,
        stream: bool,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        let tools = RequestTools::new(request, extra, Form::Nested)?;
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
            tools,
            response_format: Format::of(request, Form::Nested),
            reasoning_effort,
            stream,
            stream_options: (stream && dialect.stream_usage).then_some(StreamOptions {
                include_usage: true,
            }),
            extra: extra.map(|extra| kept(extra, |name| name != "tools")),
        })
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
        self.tools.write(&mut body)?;
        if self.stream {
            body.field("stream", &true)?;
            body.optional("stream_options", self.stream_options.as_ref())?;
        }
        body.field("messages", &self.messages)?;
        body.end()
    }
}
