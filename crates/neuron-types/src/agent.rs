//! What an agent is, as a run carries it.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    ActivityOptions, ActivitySettings, ApprovalRules, CompletionRequest, Limits, Message, OnExpiry,
    Reminder, RetryPolicy, RunState, StepId, ToolCall, ToolEffects, millis,
};

/// A named definition of an agent, resolved: what a run needs to know of it, without keys or connections.
///
/// A run keeps the definition that it was started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSpec {
    /// Its name in the agent file.
    pub name: String,
    /// Everything that its model calls have in common: provider, model, instructions, tools, settings.
    /// Its `messages` are what comes before the prompt, most often nothing; in a
    /// [`RunState`](crate::RunState) they are the conversation so far.
    pub request: CompletionRequest,
    /// Which calls are refused or put to a person.
    pub approvals: ApprovalRules,
    /// How long a ticket stays open; for ever where `None`.
    #[serde(
        rename = "approval_timeout_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub approval_timeout: Option<Duration>,
    /// What happens to a call whose ticket lapsed.
    pub on_expiry: OnExpiry,
    /// What happens to a write whose outcome is unknown.
    pub on_unknown_outcome: OnUnknownOutcome,
    /// Calls of one turn run at the same time. Default is true.
    pub parallel_tools: bool,
    /// How far a run may go.
    pub limits: Limits,
    /// How the conversation is kept small.
    pub context: ContextPolicy,
    /// How failed steps are retried.
    pub retry: RetryPolicy,
    /// How long one attempt of a model call may take. Default is 10 minutes.
    #[serde(rename = "model_timeout_ms", with = "millis")]
    pub model_timeout: Duration,
    /// How long one attempt of a tool call may take. Default is 10 minutes.
    #[serde(rename = "tool_timeout_ms", with = "millis")]
    pub tool_timeout: Duration,
    /// How engines that have a choice make its steps; a tool's own settings go before. Model calls have no
    /// placement.
    #[serde(skip_serializing_if = "ActivitySettings::is_default")]
    pub activity: ActivitySettings,
    /// What single tools do differently, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tool_settings: BTreeMap<String, ToolSettings>,
}

impl Default for AgentSpec {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            request: CompletionRequest::default(),
            approvals: ApprovalRules::default(),
            approval_timeout: None,
            on_expiry: OnExpiry::default(),
            on_unknown_outcome: OnUnknownOutcome::default(),
            parallel_tools: true,
            limits: Limits::default(),
            context: ContextPolicy::default(),
            retry: RetryPolicy::default(),
            model_timeout: Duration::from_secs(600),
            tool_timeout: Duration::from_secs(600),
            activity: ActivitySettings::default(),
            tool_settings: BTreeMap::new(),
        }
    }
}

impl AgentSpec {
    /// How the door makes the model call of this turn.
    #[must_use]
    pub fn model_options(&self, turn: u32) -> ActivityOptions {
        ActivityOptions {
            step: StepId { turn, position: 0 },
            effects: ToolEffects::Idempotent,
            start_to_close_timeout: self.model_timeout,
            retry_policy: self.retry.clone(),
            activity: ActivitySettings {
                placement: None,
                ..self.activity.clone()
            },
        }
    }

    /// How the door makes this tool call. A tool that the agent does not know is treated as a write.
    #[must_use]
    pub fn tool_options(&self, call: &ToolCall, step: StepId) -> ActivityOptions {
        let definition = self
            .request
            .tools
            .iter()
            .find(|tool| tool.name == call.name);
        let settings = self.tool_settings.get(&call.name);
        let own_retry = settings.and_then(|settings| settings.retry.as_ref());
        ActivityOptions {
            step,
            effects: definition.map_or(ToolEffects::Write, crate::ToolDefinition::effects),
            start_to_close_timeout: settings
                .and_then(|settings| settings.timeout)
                .unwrap_or(self.tool_timeout),
            retry_policy: own_retry.unwrap_or(&self.retry).clone(),
            activity: settings.map_or_else(
                || self.activity.clone(),
                |settings| settings.activity.over(&self.activity),
            ),
        }
    }
}

/// What one tool of an agent does differently.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSettings {
    /// Instead of [`AgentSpec::retry`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryPolicy>,
    /// Instead of [`AgentSpec::tool_timeout`].
    #[serde(
        rename = "timeout_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub timeout: Option<Duration>,
    /// Before [`AgentSpec::activity`].
    #[serde(skip_serializing_if = "ActivitySettings::is_default")]
    pub activity: ActivitySettings,
}

/// What happens to a write whose outcome is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnUnknownOutcome {
    /// The model reads an error result that says so.
    #[default]
    TellModel,
    /// A person is asked whether to make the call again.
    AskPerson,
}

/// How the conversation is kept small.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextPolicy {
    /// Tried in order until the conversation is under the threshold. None keeps everything.
    pub rules: Vec<ContextRule>,
    /// The size in tokens from which the conversation is compacted; the rules' default where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_tokens: Option<u64>,
    /// What the model is reminded of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<Reminder>,
}

/// One way to make a conversation smaller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextRule {
    /// Drop all but the first user message and the newest messages.
    SlidingWindow {
        /// How many messages stay.
        keep: usize,
    },
    /// Replace the content of older tool results by a note.
    ClearToolResults {
        /// How many results stay.
        keep: usize,
    },
    /// Have a model summarise the older part.
    Summarize {
        /// How many messages stay as they are.
        keep: usize,
        /// The model that summarises, as `provider/model`; the agent's own where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
}

/// What a run is started with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInput {
    /// The agent.
    pub agent: AgentSpec,
    /// The prompt.
    pub prompt: Message,
}

/// Where a history of a run begins: at the run's start, or where an earlier history left off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one a history")]
pub enum RunStart {
    /// A new run.
    New(RunInput),
    /// A run that [continued as new](crate::DurableContext::continue_as_new).
    Continued(Box<RunState>),
}

impl RunStart {
    /// The agent that runs.
    #[must_use]
    pub fn agent(&self) -> &AgentSpec {
        match self {
            Self::New(input) => &input.agent,
            Self::Continued(state) => &state.agent,
        }
    }
}

impl From<RunInput> for RunStart {
    fn from(input: RunInput) -> Self {
        Self::New(input)
    }
}

impl From<RunState> for RunStart {
    fn from(state: RunState) -> Self {
        Self::Continued(Box::new(state))
    }
}
