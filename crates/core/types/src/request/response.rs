//! What a model answers.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ContentBlock, GuardEnd, Guarded, Message, Role, Spent, TokenUsage, withheld};

/// A model's answer to one [`CompletionRequest`](crate::CompletionRequest).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompletionResponse {
    /// The provider's id of this answer; empty where it has none.
    pub id: String,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// The answer, its blocks exactly as received and in order.
    pub message: Message,
    /// What it used. All zero where the provider did not say.
    pub usage: TokenUsage,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// What it cost in US dollars. `None` where the price is not known; never a guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Decimal>,
    /// What else the provider said of this answer, by its own names: which stop sequence came up, what it
    /// left out of the context. `None` where it said nothing of note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
    /// What the provider crate left out of the request, since its API takes no such thing, and tools that the executor
    /// left out, since they cannot be used: each a sentence that names it and the reason. The loop reports each once a
    /// run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Why the text is not of the [form](crate::ResponseFormat) that was asked for, as the executor found; providers
    /// leave it at `None`. So it is where the text fits, where no form was asked for, and where the answer asks for
    /// tool calls or was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mismatch: Option<String>,
    /// What guards said of the text, as the executor found; providers leave it at `None`. Where they had it replaced or
    /// blocked, the message has what takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<Box<Guarded>>,
    /// What attempts at this call used and cost that failed before it was answered, as far as their providers said; the
    /// executor and the doors fill it in. `None` where none failed or nothing was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_before: Option<Box<Spent>>,
}

/// An answer that ended its turn without content; nothing else is known of it.
impl Default for CompletionResponse {
    fn default() -> Self {
        Self {
            id: String::new(),
            model: String::new(),
            message: Message {
                role: Role::Assistant,
                content: Vec::new(),
            },
            usage: TokenUsage::default(),
            stop_reason: StopReason::EndTurn,
            cost_usd: None,
            extra: None,
            left_out: Vec::new(),
            mismatch: None,
            guarded: None,
            spent_before: None,
        }
    }
}

impl CompletionResponse {
    /// Returns whether its text has to be of the [form](crate::ResponseFormat) that was asked for: not if it asks for tool
    /// calls, or was cut.
    #[must_use]
    pub fn must_fit_form(&self) -> bool {
        let is_whole = matches!(
            self.stop_reason,
            StopReason::EndTurn | StopReason::StopSequence
        );
        let mut blocks = self.message.content.iter();
        is_whole && !blocks.any(|block| matches!(block, ContentBlock::ToolUse { .. }))
    }

    /// Leaves of the answer what guards left: the text that they put in its place, or why it is withheld. Whether that text
    /// fits the form of answers counts from now on. What they said is kept beside it.
    pub fn take_guarded(&mut self, mut said: Guarded) {
        if let Some(with) = said.replaced.take() {
            self.message.replace_text(with);
            self.mismatch = said.mismatch.take();
        }
        if let GuardEnd::Block(reason) = &said.end {
            self.message.replace_text(withheld(reason));
        }
        self.guarded = said.into_box();
    }

    /// Returns what it used and cost, together with the attempts that failed before. `None` where nothing was reported.
    #[must_use]
    pub fn spent(&self) -> Option<Box<Spent>> {
        let is_reported = self.usage.total() > 0 || self.cost_usd.is_some();
        let own = is_reported.then(|| Box::new(Spent::new(self.usage.clone(), self.cost_usd)));
        Spent::sum(self.spent_before.clone(), own)
    }

    /// Adds what attempts used and cost that failed before.
    #[must_use]
    pub fn with_spent_before(mut self, spent: Option<Box<Spent>>) -> Self {
        self.spent_before = Spent::sum(spent, self.spent_before);
        self
    }
}

/// Why a model's answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// It wants tools called.
    ToolUse,
    /// The output limit was reached: a trailing tool call may be incomplete.
    MaxTokens,
    /// One of the stop sequences came up.
    StopSequence,
    /// The provider's filter cut the answer.
    ContentFilter,
    /// The model declined to answer.
    Refusal,
    /// The provider compacted the context and stopped: call again to continue.
    Compaction,
    /// The provider paused in the middle of its own tools: send the answer back as it is to continue.
    PauseTurn,
    /// The context window is full.
    ContextWindowExceeded,
    /// A reason that has no variant here, as the provider wrote it.
    #[serde(untagged)]
    Other(String),
}

impl StopReason {
    /// Returns the reason as it stands in JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::Compaction => "compaction",
            Self::PauseTurn => "pause_turn",
            Self::ContextWindowExceeded => "context_window_exceeded",
            Self::Other(reason) => reason,
        }
    }

    /// The reason that a provider wrote and that its crate gives no meaning to: [`StopReason::Other`], unless
    /// the name is that of a variant, which is what it would be when it is read from a journal.
    #[must_use]
    pub fn named(reason: String) -> Self {
        serde_json::from_value(Value::String(reason.clone())).unwrap_or(Self::Other(reason))
    }
}
