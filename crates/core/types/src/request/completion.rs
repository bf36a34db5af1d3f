//! What is asked of a model.

use std::{borrow::Cow, iter, ops::Deref, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    CacheControl, ContextManagement, Conversation, FIND_TOOLS, ToolDefinition, json::shared,
};

/// One model call, whole: a provider needs nothing else to make it.
///
/// A clone is two pointer copies, however long the conversation is. As JSON it is one object: the fields of
/// its head and `messages`.
///
/// ```
/// use neuron_types::{CompletionRequest, Message, RequestHead};
///
/// let asked = vec![Message::user("Which crates are here?")];
/// let request = CompletionRequest::new(RequestHead::new("gpt-6.1-terra"), asked);
/// let brief = request.clone().with_head(|head| head.max_tokens = Some(100));
/// assert_eq!((brief.model.as_str(), brief.max_tokens), ("gpt-6.1-terra", Some(100)));
/// assert_eq!(request.max_tokens, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompletionRequest {
    /// Everything but the conversation.
    #[serde(flatten, with = "shared")]
    pub head: Arc<RequestHead>,
    /// The conversation, oldest first.
    pub messages: Conversation,
}

impl CompletionRequest {
    /// A request with this head and these messages.
    #[must_use]
    pub fn new(head: impl Into<Arc<RequestHead>>, messages: impl Into<Conversation>) -> Self {
        Self {
            head: head.into(),
            messages: messages.into(),
        }
    }

    /// Everything but the conversation, to be changed. Copies the head if another request shares it.
    pub fn head_mut(&mut self) -> &mut RequestHead {
        Arc::make_mut(&mut self.head)
    }

    /// Changes the head. Copies it if another request shares it.
    #[must_use]
    pub fn with_head(mut self, change: impl FnOnce(&mut RequestHead)) -> Self {
        change(self.head_mut());
        self
    }

    /// Replaces the conversation.
    #[must_use]
    pub fn with_messages(mut self, messages: impl Into<Conversation>) -> Self {
        self.messages = messages.into();
        self
    }
}

impl Deref for CompletionRequest {
    type Target = RequestHead;

    fn deref(&self) -> &RequestHead {
        &self.head
    }
}

impl From<RequestHead> for CompletionRequest {
    fn from(head: RequestHead) -> Self {
        Self::new(head, Conversation::default())
    }
}

/// What the model calls of an agent have in common: everything of a [`CompletionRequest`] but its messages.
///
/// Fields that are `None` or empty are left to the provider's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestHead {
    /// Which registered provider answers. Read by the executor; a provider ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's name as its provider knows it.
    pub model: String,
    /// The models that are asked where the one before cannot answer, in this order, each as `provider/model`. Read by the
    /// executor; a provider ignores it. What the models of another provider than [`provider`](Self::provider) are not sent:
    /// [`thinking`](Self::thinking), [`context_management`](Self::context_management) and [`extra`](Self::extra), which are
    /// that provider's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_models: Vec<String>,
    /// The instructions at the head of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemPrompt>,
    /// The tools that the model may call, in an order that does not change between calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// The tools that the model may call once it has found them by its provider's own search. A provider that has no such
    /// search ignores them. One that has it sends them as its API wants them, and leaves [`FIND_TOOLS`](crate::FIND_TOOLS)
    /// out: [`listed_tools`](Self::listed_tools) are the others then. [`AgentSpec::sent_head`](crate::AgentSpec::sent_head)
    /// sets them, where the agent [wants that](crate::ToolSearch::provider).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searched_tools: Vec<ToolDefinition>,
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

impl RequestHead {
    /// A request to this model, with the provider's defaults.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            ..Self::default()
        }
    }

    /// Returns it with these tools and no other.
    #[must_use]
    pub fn with_tools(&self, tools: Vec<ToolDefinition>) -> Self {
        // All fields are listed so that the tools are not copied.
        let Self {
            provider,
            model,
            fallback_models,
            system,
            tools: _,
            searched_tools: _,
            max_tokens,
            temperature,
            top_p,
            stop_sequences,
            tool_choice,
            parallel_tool_calls,
            response_format,
            thinking,
            reasoning_effort,
            context_management,
            extra,
        } = self;
        Self {
            provider: provider.clone(),
            model: model.clone(),
            fallback_models: fallback_models.clone(),
            system: system.clone(),
            tools,
            searched_tools: Vec::new(),
            max_tokens: *max_tokens,
            temperature: *temperature,
            top_p: *top_p,
            stop_sequences: stop_sequences.clone(),
            tool_choice: tool_choice.clone(),
            parallel_tool_calls: *parallel_tool_calls,
            response_format: response_format.clone(),
            thinking: *thinking,
            reasoning_effort: *reasoning_effort,
            context_management: context_management.clone(),
            extra: extra.clone(),
        }
    }

    /// Returns the tools that a provider sends in whole, where it searches [the others](Self::searched_tools) itself: all but the
    /// one with which a model finds tools, unless there is nothing to search.
    pub fn listed_tools(&self) -> impl Iterator<Item = &ToolDefinition> {
        let searches = !self.searched_tools.is_empty();
        let tools = self.tools.iter();
        tools.filter(move |tool| !searches || tool.name != FIND_TOOLS)
    }

    /// The models in the order in which they are asked, each as `provider/model`; the first as it is where it names no
    /// provider.
    pub fn models(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let first = match &self.provider {
            Some(provider) => Cow::Owned(format!("{provider}/{}", self.model)),
            None => Cow::Borrowed(self.model.as_str()),
        };
        let others = self.fallback_models.iter();
        iter::once(first).chain(others.map(|name| Cow::Borrowed(name.as_str())))
    }
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

/// How hard the model reasons. Providers reject a level that a model does not have.
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
