use neuron_provider_http::lenient;
use neuron_types::{CompletionResponse, ContentBlock, Message, Role, StopReason, TokenUsage};
use serde::Deserialize;
use serde_json::Value;

use crate::chat::call;

/// The body of a success. Only one choice with a message must be there.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) id: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) usage: Usage,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Choice {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) finish_reason: Option<String>,
    pub(crate) message: ChoiceMessage,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct ChoiceMessage {
    #[serde(default)]
    pub(crate) content: Value,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) refusal: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) reasoning_content: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) reasoning: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) tool_calls: Vec<Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct Usage {
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    completion_tokens: u64,
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
    /// `None` if there is no choice.
    pub(crate) fn into_response(self) -> Option<CompletionResponse> {
        let choice = self.choices?.into_iter().next()?;
        let (content, refused) = choice.message.into_blocks();
        let calls = content
            .iter()
            .any(|block| matches!(block, ContentBlock::ToolUse { .. }));
        Some(CompletionResponse {
            id: self.id,
            model: self.model,
            message: Message {
                role: Role::Assistant,
                content,
            },
            usage: self.usage.into(),
            stop_reason: stop_reason(choice.finish_reason, calls, refused),
            cost_usd: None,
            extra: None,
            mismatch: None,
            spent_before: None,
        })
    }
}

/// Servers disagree on the reason for calls, so the calls themselves decide.
fn stop_reason(reason: Option<String>, calls: bool, refused: bool) -> StopReason {
    let reason = reason.unwrap_or_default();
    match reason.as_str() {
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::ContentFilter,
        _ if refused => StopReason::Refusal,
        _ if calls => StopReason::ToolUse,
        "" | "stop" => StopReason::EndTurn,
        _ => StopReason::named(reason),
    }
}

impl ChoiceMessage {
    /// The blocks, and whether the model refused: then they are its refusal alone.
    fn into_blocks(self) -> (Vec<ContentBlock>, bool) {
        let said = |text: &String| !text.is_empty();
        let mut refusal = self.refusal.filter(said);
        let mut blocks = Vec::new();
        let reasoning = self.reasoning_content.filter(said);
        if let Some(thinking) = reasoning.or(self.reasoning.filter(said)) {
            blocks.push(ContentBlock::Thinking {
                thinking,
                signature: None,
            });
        }
        match self.content {
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
        blocks.extend(self.tool_calls.into_iter().filter_map(call::read));
        match refusal {
            Some(text) => (vec![ContentBlock::Text(text)], true),
            None => (blocks, false),
        }
    }
}

/// The text of a part of this type, which has a field of the same name.
pub(crate) fn text_of(part: &Value, kind: &str) -> Option<String> {
    let is_kind = part.get("type").and_then(Value::as_str) == Some(kind);
    let text = part.get(kind).and_then(Value::as_str)?;
    is_kind.then(|| text.to_owned())
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.prompt_tokens,
            output_tokens: usage.completion_tokens,
            cache_read_tokens: usage.prompt_tokens_details.cached_tokens,
            cache_creation_tokens: usage.prompt_tokens_details.cache_write_tokens,
            reasoning_tokens: usage.completion_tokens_details.reasoning_tokens,
            iterations: None,
        }
    }
}
