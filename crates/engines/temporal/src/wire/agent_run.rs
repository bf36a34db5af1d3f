//! A run, as a type for the SDK's client.

use neuron_types::RunOutput;
use temporalio_common::{HasWorkflowDefinition, WorkflowDefinition};

use crate::wire::history_input::HistoryInput;

/// Describes a run's input and output to the SDK's client, whatever its workflow's name.
#[derive(Debug, Clone)]
pub struct AgentRun {
    /// The workflow type.
    pub name: String,
}

impl WorkflowDefinition for AgentRun {
    type Input = HistoryInput;
    type Output = RunOutput;

    fn name(&self) -> &str {
        &self.name
    }
}

impl HasWorkflowDefinition for AgentRun {
    type Run = Self;
}
