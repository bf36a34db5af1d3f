//! A run that continues as another agent.

use serde::{Deserialize, Serialize};

use crate::{AgentSpec, HandedConversation, Limits};

/// The model handed the run over: the run continues as another agent before its next turn, if there is such an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    /// The other agent.
    pub to: String,
    /// Why, as the model says; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What the other agent sees of the conversation.
    #[serde(default)]
    pub conversation: HandedConversation,
    /// The other definition, as the run goes by it once the conversation is summarised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Box<AgentSpec>>,
}

/// How a run began that continues as another agent: what it keeps, whichever agent continues with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandedOver {
    /// The agent that it began as. The doors know the run by it.
    pub began_as: String,
    /// The limits that it had then, as far as people raised them before it was handed over last.
    pub limits: Limits,
}
