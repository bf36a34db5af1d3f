//! What is asked of a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Message, ToolDefinition};

/// One model call, whole: a provider needs nothing else to make it.
///
/// Fields that are `None` or empty are left to the provider's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompletionRequest {
    /// Which registered provider answers. Read by the executor; a provider ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name as its provider knows it.
    pub model: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The instructions at the head of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemPrompt>,
    /// The tools that the model may call, in an order that does not change between calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// The most tokens that the model may answer with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// Nucleus sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f32>,
    /// Texts that end the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Whether, and which, tool must be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Whether one answer may ask for several tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// The form of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<ResponseFormat>,
    /// Extended thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingConfig>,
    /// How hard the model reasons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
    /// Compaction on the provider's side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_management: Option<ContextManagement>,
    /// Further fields of the provider's request body, merged in at its top level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
}

/// The instructions at the head of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemPrompt {
    /// One text.
    Text(String),
    /// Several, each with its own cache marker.
    Blocks(Vec<SystemBlock>),
}

/// One part of a [`SystemPrompt::Blocks`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBlock {
    /// The text.
    pub text: String,
    /// Ends a cached prefix here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
}

/// Marks the end of a prefix that the provider may cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheControl {
    /// How long; the provider's default where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<CacheTtl>,
}

/// How long a cached prefix lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheTtl {
    /// Five minutes after its last use.
    FiveMinutes,
    /// One hour after its last use.
    OneHour,
}

/// Whether, and which, tool must be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No call.
    None,
    /// At least one call.
    Required,
    /// This tool.
    Specific {
        /// Its name.
        name: String,
    },
}

/// The form of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Prose.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// The schema's name.
        name: String,
        /// The JSON Schema.
        schema: Value,
        /// The provider enforces it while sampling.
        strict: bool,
    },
}

/// Extended thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingConfig {
    /// On, with a budget.
    Enabled {
        /// The most tokens to think with.
        budget_tokens: u64,
    },
    /// Off.
    Disabled,
    /// The model decides.
    Adaptive,
    /// Nothing before the first tool call, and short notes between calls.
    BetweenTools,
}

/// How hard the model reasons. Providers refuse a level that a model does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// Not at all.
    None,
    /// Barely.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More than `High`.
    #[serde(rename = "xhigh")]
    XHigh,
    /// As much as the model can.
    Max,
}

/// Compaction on the provider's side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextManagement {
    /// What the provider may do, in order.
    pub edits: Vec<ContextEdit>,
}

/// One thing that the provider may do to the context that it sees. The conversation that is sent stays whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextEdit {
    /// Summarise the conversation so far.
    Compact {
        /// The provider's name of the strategy, for example `compact_20260112`.
        strategy: String,
        /// The size of the prompt in tokens from which it does; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_tokens: Option<u64>,
        /// What the summary must pay attention to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    },
    /// Leave out older tool results.
    ClearToolResults {
        /// The size of the prompt in tokens from which it does; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_tokens: Option<u64>,
        /// How many of the newest results stay; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<u64>,
    },
    /// Leave out older thinking.
    ClearThinking {
        /// How many of the newest turns with thinking keep it; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<u64>,
    },
    /// An edit that has no variant here, in the provider's own words.
    Native(Value),
}

impl ContextEdit {
    /// Summarising by this strategy of the provider's, with its defaults.
    #[must_use]
    pub fn compact(strategy: impl Into<String>) -> Self {
        Self::Compact {
            strategy: strategy.into(),
            at_tokens: None,
            instructions: None,
        }
    }
}
