use std::borrow::Cow;

use neuron_provider_http::{BodyWriter, Joined, extra_fields, kept};
use neuron_types::{CompletionRequest, ContextEdit, ProviderError, ReasoningEffort};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    form::Form,
    format::Format,
    model::Model,
    reasoning::{effort, refuse},
    responses::item::{self, Item},
    responses::settings::ResponsesSettings,
    tools::RequestTools,
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

/// The fields that it takes when it compacts.
const COMPACTED: &[&str] = &[
    "image",
    "instructions",
    "previous_response_id",
    "prompt_cache_key",
    "prompt_cache_options",
];

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
    pub(crate) tools: RequestTools<'a>,
    text: Option<TextSettings<'a>>,
    reasoning: Option<Reasoning>,
    context_management: Vec<Edit<'a>>,
    encrypted_reasoning: bool,
    purpose: Purpose,
    extra: Option<Cow<'a, Map<String, Value>>>,
}

#[derive(Debug, Serialize)]
struct TextSettings<'a> {
    format: Format<'a>,
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
    /// Writes down what to send, and rejects what cannot be expressed.
    pub(crate) fn new(
        request: &'a CompletionRequest,
        settings: &ResponsesSettings,
        purpose: Purpose,
    ) -> Result<Self, ProviderError> {
        let extra = extra_fields(request, RESERVED)?;
        let tools = RequestTools::new(request, extra, Form::Flat)?;
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
            tools,
            text: Format::of(request, Form::Flat).map(|format| TextSettings { format }),
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
            self.tools.write(&mut body)?;
        }
        if self.purpose == Purpose::Stream {
            body.field("stream", &true)?;
        }
        body.field("input", &self.input)?;
        body.end()
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
