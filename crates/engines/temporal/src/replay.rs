//! Replaying recorded histories against this build.

use std::{fmt, io, path::Path};

use futures::future::LocalBoxFuture;
use temporalio_client::WorkflowHistory;
use temporalio_common::protos::temporal::api::enums::v1::EventType;
use temporalio_sdk::workflow_replayer::{
    WorkflowReplayError, WorkflowReplayer, WorkflowReplayerOptions,
};

use crate::{
    state::{agent_host::AgentHost, hosting::Hosting},
    wire::history_json,
    workflow::agent_workflow::AgentWorkflow,
};

/// The first event of every history.
const START: EventType = EventType::WorkflowExecutionStarted;

/// Replays recorded histories, to check whether this build makes the same decisions.
pub struct Replay {
    replayer: WorkflowReplayer,
}

/// Why a history does not replay.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("the history cannot be read: check the path")]
    File(#[from] io::Error),
    /// The file is not a history.
    #[error("this is no history: export one with `temporal workflow show --output json`")]
    NoHistory(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// This build makes other decisions than the history has, or the history is incomplete.
    #[error("the history does not replay: {0}")]
    Differs(#[source] Box<WorkflowReplayError>),
}

impl Replay {
    /// Returns a replay of histories of this workflow.
    ///
    /// # Errors
    ///
    /// If the SDK rejects the workflow.
    pub fn new<W: AgentWorkflow>() -> Result<Self, WorkflowReplayError> {
        let mut options = WorkflowReplayerOptions::new().build();
        // The SDK only rejects a second workflow of the same name, and this is the first.
        drop(
            options.register_workflow_with_factory::<AgentHost<W>, _>(|| {
                AgentHost::new(Hosting::default())
            }),
        );
        Ok(Self {
            replayer: WorkflowReplayer::new(options)?,
        })
    }

    /// Replays a history that was exported to a file.
    ///
    /// # Errors
    ///
    /// As [`json`](Self::json), or if the file cannot be read.
    pub async fn file(&self, path: &Path) -> Result<(), ReplayError> {
        self.json(&std::fs::read(path)?).await
    }

    /// Replays a history that was exported as JSON, by Temporal's own command or UI or by
    /// [`AgentClient::export`](crate::AgentClient::export).
    ///
    /// # Errors
    ///
    /// If the JSON is not a history, or if this build makes other decisions than the history has.
    pub async fn json(&self, json: &[u8]) -> Result<(), ReplayError> {
        let history =
            history_json::from_json(json).map_err(|error| ReplayError::NoHistory(error.into()))?;
        // The SDK panics on a history without a start.
        if history.events.first().map(|event| event.event_type()) != Some(START) {
            return Err(ReplayError::NoHistory(
                "it does not begin with the start of a run".into(),
            ));
        }
        self.replay(WorkflowHistory::from(history)).await
    }

    /// Replays a history. Boxed, so that the SDK's worker is compiled here once, and not in every program that replays.
    fn replay(&self, history: WorkflowHistory) -> LocalBoxFuture<'_, Result<(), ReplayError>> {
        Box::pin(async move {
            let replayed = self.replayer.replay_workflow(history).await;
            replayed.map_err(|error| ReplayError::Differs(Box::new(error)))
        })
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}
