//! The result of a run that a workflow started.

use neuron_types::{ExitReason, RunError, RunId};
use serde::{Deserialize, Serialize};

use super::workflow_error::WorkflowError;

/// The result of a run that a workflow started: the answer of its agent, or why there is no answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentAnswer {
    /// The agent's name in the workflow.
    pub agent: String,
    /// The run.
    pub run: RunId,
    /// Why it ended.
    pub exit_reason: ExitReason,
    /// Its last text: its answer, if it is [complete](ExitReason::Complete).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The error that it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
}

impl AgentAnswer {
    /// Returns the answer; `None` if the run has no answer.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let is_complete = self.exit_reason == ExitReason::Complete;
        is_complete.then(|| self.output.as_deref().unwrap_or_default())
    }

    /// Returns why there is no answer, as a sentence without a period; `None` if there is one.
    #[must_use]
    pub fn why_none(&self) -> Option<String> {
        if self.text().is_some() {
            return None;
        }
        let phase = self.exit_reason.phase().as_str();
        let error = self.error.as_ref();
        let why = error.map_or_else(String::new, |error| format!(": {}", error.message));
        Some(format!(
            "the agent {} came to no answer ({phase}){why}",
            self.agent
        ))
    }

    /// Returns the answer.
    ///
    /// # Errors
    ///
    /// [`WorkflowError::Agent`] if the run has no answer.
    pub fn into_text(self) -> Result<String, WorkflowError> {
        match self.exit_reason {
            ExitReason::Complete => Ok(self.output.unwrap_or_default()),
            exit_reason => Err(WorkflowError::Agent {
                agent: self.agent,
                exit_reason,
                error: self.error,
            }),
        }
    }
}
