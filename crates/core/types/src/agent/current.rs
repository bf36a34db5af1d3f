//! The call that asks a worker for an agent's current definition.

use serde::{Deserialize, Serialize};

use crate::AgentSpec;

/// The name of the call with which a run asks its executor for the current definition of its agent. It is made through
/// the door like any call: retried and journaled.
pub const DEFINITION_CALL: &str = "neuron/definition";

/// The input of a [`DEFINITION_CALL`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionRequest {
    /// The agent's name.
    pub agent: String,
}

/// The output of a [`DEFINITION_CALL`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CurrentDefinition {
    /// The definition.
    Here(Box<AgentSpec>),
    /// There is none, for this reason.
    Missing(String),
}
