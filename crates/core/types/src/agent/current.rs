//! What a worker is asked for an agent's current definition with, and what it says.

use serde::{Deserialize, Serialize};

use crate::AgentSpec;

/// Asks for the current definition of an agent: see [`Effect::Definition`](crate::Effect::Definition).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionRequest {
    /// The agent's name.
    pub agent: String,
}

/// The current definition of an agent, if there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CurrentDefinition {
    /// The definition.
    Here(Box<AgentSpec>),
    /// There is no definition, for this reason.
    Missing(String),
}
