//! What is written into the history for a step: the inputs of the activities.

use std::time::Duration;

use neuron_types::{
    ActivityOptions, CompletionRequest, ContentBlock, Message, RunEvent, StepId, ToolCall,
    ToolEffects,
};
use serde::{Deserialize, Serialize};

/// The name of the activity that calls the model.
pub(crate) const MODEL: &str = "model";
/// The name of the activity that takes in a part of a conversation and calls nothing.
pub(crate) const PART: &str = "part";
/// The name of the activity that calls a tool.
pub(crate) const TOOL: &str = "tool";
/// The name of the activity that tells the hooks how the run ended.
pub(crate) const OBSERVE: &str = "observe";

/// How a step's attempts are made, as far as the activity has to know it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Terms {
    /// The agent, which decides the executor.
    pub(crate) agent: String,
    pub(crate) step: StepId,
    pub(crate) effects: ToolEffects,
    pub(crate) timeout_ms: u64,
    /// What the executor's hooks are told before the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tell: Vec<RunEvent>,
}

impl Terms {
    pub(crate) fn new(agent: &str, options: &ActivityOptions, tell: Vec<RunEvent>) -> Self {
        let timeout = options.start_to_close_timeout.as_millis();
        Self {
            agent: agent.to_owned(),
            step: options.step,
            effects: options.effects,
            timeout_ms: u64::try_from(timeout).unwrap_or(u64::MAX),
            tell,
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// One model call: what is new in its request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ModelStep {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    #[serde(flatten)]
    pub(crate) delta: Delta,
}

/// How a request follows from the run's model calls before it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delta {
    /// How many messages of the conversation so far stay: those of the request before, and its answer.
    pub(crate) keep: usize,
    /// What is added to the last message that stays, where that is told in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) more: Option<More>,
    /// The messages after them.
    pub(crate) messages: Vec<Message>,
    /// The request without its messages, where it is another than that of the call before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<Box<CompletionRequest>>,
    /// The request stands for itself, and the conversation goes on without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) aside: bool,
    /// Of the whole request.
    pub(crate) checksum: String,
}

/// A further part of a message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct More {
    /// How many blocks the message has without it.
    pub(crate) after: usize,
    pub(crate) blocks: Vec<ContentBlock>,
}

/// One tool call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToolStep {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    pub(crate) call: ToolCall,
}

/// What the executor's hooks are told when the run is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ending {
    pub(crate) agent: String,
    pub(crate) tell: Vec<RunEvent>,
}

/// The event without what no hook is told, so that it costs the history next to nothing; `None` if it is
/// none of the hooks'.
pub(crate) fn for_hooks(event: &RunEvent) -> Option<RunEvent> {
    match event {
        RunEvent::RunStarted { agent, .. } => Some(RunEvent::RunStarted {
            agent: agent.clone(),
            model: String::new(),
            prompt: String::new(),
        }),
        RunEvent::RunEnded { exit_reason, .. } => Some(RunEvent::RunEnded {
            exit_reason: *exit_reason,
            output: None,
            error: None,
        }),
        RunEvent::TurnStarted { .. }
        | RunEvent::TurnEnded { .. }
        | RunEvent::ContextCompacted { .. } => Some(event.clone()),
        _ => None,
    }
}
