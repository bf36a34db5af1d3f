use std::{collections::VecDeque, mem};

use neuron_provider_http::{
    ApiFailure, Calls, FinishedCall, NoAnswer, count, end_of, known_counts, lenient, lenient_list,
    lenient_object, no_end_named,
};
use neuron_types::{CompletionResponse, ContentBlock, Message, StopReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    chat::fragments,
    failure::{self, BaseResponse},
};

/// The field of reasoning that a server wants back beside calls.
const SENT_BACK: &str = "reasoning_content";

/// The body of a success. Only one choice with a message must be there.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(default, deserialize_with = "lenient")]
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    model: String,
    #[serde(default, deserialize_with = "lenient_list")]
    choices: Vec<Choice>,
    #[serde(default, deserialize_with = "lenient_object")]
    usage: Usage,
    #[serde(default, deserialize_with = "lenient")]
    base_resp: BaseResponse,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    #[serde(default)]
    error: Value,
    message: Said,
}

/// What the model says: all of it, or a piece.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Said {
    #[serde(default)]
    pub(crate) content: Value,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) refusal: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) reasoning_content: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) reasoning: String,
    #[serde(default, deserialize_with = "lenient_list")]
    pub(crate) tool_calls: Vec<Map<String, Value>>,
    /// The only call, as the API had it before there were lists of them.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) function_call: Map<String, Value>,
}

impl Said {
    /// Returns the entries of calls, in the form of those in lists.
    pub(crate) fn take_calls(&mut self) -> Vec<Map<String, Value>> {
        let only = mem::take(&mut self.function_call);
        let calls = mem::take(&mut self.tool_calls);
        if !calls.is_empty() || only.is_empty() {
            return calls;
        }
        let index = ("index".to_owned(), 0.into());
        vec![Map::from_iter([
            index,
            ("function".to_owned(), only.into()),
        ])]
    }

    /// Returns whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        let has_content = match &self.content {
            Value::String(text) => !text.is_empty(),
            Value::Array(parts) => !parts.is_empty(),
            Value::Object(_) => true,
            _ => false,
        };
        let texts = [&self.refusal, &self.reasoning_content, &self.reasoning];
        let has_calls = !self.tool_calls.is_empty() || !self.function_call.is_empty();
        !has_content && !has_calls && texts.into_iter().all(String::is_empty)
    }
}

/// An answer that is whole, however it came.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) content: Value,
    pub(crate) refusal: String,
    pub(crate) reasoning_content: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<FinishedCall>,
    pub(crate) finish_reason: Option<String>,
    /// What the choice says that failed.
    pub(crate) error: Value,
    pub(crate) usage: Usage,
    /// An answer that does not say why it ended is whole all the same.
    pub(crate) needs_no_reason: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct Usage {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens_details: PromptDetails,
    #[serde(default, deserialize_with = "lenient")]
    completion_tokens_details: CompletionDetails,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "lenient")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct CompletionDetails {
    #[serde(default, deserialize_with = "lenient")]
    reasoning_tokens: Option<u64>,
}

impl Answer {
    /// Returns the answer's first choice.
    pub(crate) fn receive(self, needs_no_reason: bool) -> Result<Received, NoAnswer> {
        let choice = self.choices.into_iter().next();
        let choice = choice.filter(|_| !self.base_resp.failed());
        let choice = choice.ok_or(NoAnswer::Absent)?;
        let mut message = choice.message;
        let mut calls = Calls::default();
        for entry in message.take_calls() {
            // Each entry is a call of its own.
            calls.start(fragments::read(entry), &mut VecDeque::new())?;
        }
        Ok(Received {
            id: self.id,
            model: self.model,
            content: message.content,
            refusal: message.refusal,
            reasoning_content: message.reasoning_content,
            reasoning: message.reasoning,
            calls: calls.finish()?,
            finish_reason: choice.finish_reason,
            error: choice.error,
            usage: self.usage,
            needs_no_reason,
        })
    }
}

impl Received {
    pub(crate) fn into_response(mut self) -> Result<CompletionResponse, NoAnswer> {
        let usage: TokenUsage = mem::take(&mut self.usage).into();
        let (id, model) = (mem::take(&mut self.id), mem::take(&mut self.model));
        let ended = self.stop_reason();
        let (content, refused) = self.into_blocks();
        let stop_reason = match ended {
            Ok(StopReason::MaxTokens) => StopReason::MaxTokens,
            Ok(StopReason::ContentFilter) => StopReason::ContentFilter,
            Ok(_) if refused => StopReason::Refusal,
            Ok(reason) => reason,
            Err(failure) => {
                return Err(NoAnswer::Failed(ApiFailure {
                    usage: Some(Box::new(usage)),
                    ..failure
                }));
            }
        };
        Ok(CompletionResponse {
            id,
            model,
            message: Message::answer(content),
            usage,
            stop_reason,
            ..CompletionResponse::default()
        })
    }

    fn stop_reason(&self) -> Result<StopReason, ApiFailure> {
        if self.error.is_object() || self.error.is_string() {
            return Err(failure::read_event(&self.error));
        }
        let reason = self
            .finish_reason
            .as_deref()
            .filter(|name| !name.is_empty());
        match reason {
            Some(reason) => end_of(reason, !self.calls.is_empty()),
            None if !self.needs_no_reason => Err(no_end_named(
                "if the server never does, set `done_suffices`",
            )),
            None if self.calls.is_empty() => Ok(StopReason::EndTurn),
            None => Ok(StopReason::ToolUse),
        }
    }

    /// Returns the blocks, and whether the model answered with a `refusal`: then the blocks are that alone.
    fn into_blocks(self) -> (Vec<ContentBlock>, bool) {
        let mut refusal = Some(self.refusal).filter(|text| !text.is_empty());
        let mut blocks = Vec::new();
        let (thinking, field) = match self.reasoning_content.is_empty() {
            false => (self.reasoning_content, Some(SENT_BACK.to_owned())),
            true => (self.reasoning, None),
        };
        if !thinking.is_empty() {
            blocks.push(ContentBlock::Thinking {
                thinking,
                signature: None,
                field,
            });
        }
        let content = match self.content {
            part @ Value::Object(_) => Value::Array(vec![part]),
            content => content,
        };
        match content {
            Value::String(text) if !text.is_empty() => blocks.push(ContentBlock::Text(text)),
            Value::Array(parts) => {
                for part in parts {
                    match (text_of(&part, "text"), text_of(&part, "refusal")) {
                        (Some(text), _) => blocks.push(ContentBlock::Text(text)),
                        (_, Some(text)) => refusal = Some(text),
                        _ => blocks.push(ContentBlock::Other(part)),
                    }
                }
            }
            _ => {}
        }
        blocks.extend(self.calls.into_iter().map(fragments::block));
        match refusal {
            Some(text) => (vec![ContentBlock::Text(text)], true),
            None => (blocks, false),
        }
    }
}

/// Returns the text of a part of this type, which has a field of the same name.
pub(crate) fn text_of(part: &Value, kind: &str) -> Option<String> {
    let is_kind = part.get("type").and_then(Value::as_str) == Some(kind);
    let text = part.get(kind).and_then(Value::as_str)?;
    is_kind.then(|| text.to_owned())
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let counts = known_counts(usage.prompt_tokens, usage.completion_tokens);
        let Some((input_tokens, output_tokens)) = counts else {
            return Self::default();
        };
        Self {
            input_tokens,
            output_tokens,
            cache_read_tokens: usage.prompt_tokens_details.cached_tokens,
            cache_creation_tokens: usage.prompt_tokens_details.cache_write_tokens,
            reasoning_tokens: usage.completion_tokens_details.reasoning_tokens,
            iterations: None,
        }
    }
}
