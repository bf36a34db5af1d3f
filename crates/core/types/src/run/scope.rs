//! Which run an event is of, for what watches it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{RunId, RunStatus, RunTags, RunTrace, TraceContext};

/// A run, as what watches it learns of it: hooks, traces and metrics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunScope {
    /// The run.
    pub run_id: RunId,
    /// The agent that acts in it, where it is not the executor's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What no other run has, though it may have the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Uuid>,
    /// What it is a part of in a distributed trace, if the caller who started it named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "RunTags::is_empty")]
    pub tags: RunTags,
}

impl RunScope {
    /// Returns the run of this id; nothing else is known of it.
    #[must_use]
    pub fn new(run_id: RunId) -> Self {
        Self {
            run_id,
            agent: None,
            nonce: None,
            trace: None,
            tags: RunTags::default(),
        }
    }

    /// Returns the spans of the run in its trace.
    #[must_use]
    pub const fn spans(&self) -> RunTrace<'_> {
        RunTrace {
            run: &self.run_id,
            nonce: self.nonce,
            given: self.trace.as_ref(),
        }
    }
}

impl From<&RunStatus> for RunScope {
    fn from(status: &RunStatus) -> Self {
        Self {
            run_id: status.run_id.clone(),
            agent: Some(status.agent.clone()),
            nonce: status.nonce,
            trace: status.trace.clone(),
            tags: status.tags(),
        }
    }
}
