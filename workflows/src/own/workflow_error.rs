//! Why a custom workflow has no output.

use std::error::Error;

use neuron_turn::TurnError;
use neuron_types::{
    DurableError, ExitReason, FailureKind, OverrideRejected, RunError, StepFailure, with_causes,
};

/// Why a custom workflow has no output. Its run ends with this error, unless the run only cannot continue here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The door returned an error.
    #[error(transparent)]
    Door(#[from] DurableError),
    /// An agent has no answer.
    #[error("the agent {agent} came to no answer{}", .error.as_ref().map(|e| format!(": {}", e.message)).unwrap_or_default())]
    Agent {
        /// The agent's name.
        agent: String,
        /// Why it ended.
        exit_reason: ExitReason,
        /// The error that it failed with.
        error: Option<RunError>,
    },
    /// A [turn](crate::Door::turn) of an agent failed.
    #[error("the turn of the agent {agent} failed")]
    Turn {
        /// The agent's name.
        agent: String,
        /// Why.
        #[source]
        source: TurnError,
    },
    /// An agent's answer does not have the form that the workflow reads.
    #[error("the answer of the agent {agent} cannot be read")]
    Answer {
        /// The agent's name.
        agent: String,
        /// The error of reading it.
        #[source]
        source: serde_json::Error,
    },
    /// The workflow has no such agent.
    #[error("the workflow has no agent {agent}: it has {known}")]
    UnknownAgent {
        /// The name that was requested.
        agent: String,
        /// The agents that it has.
        known: String,
    },
    /// Two agents were asked at the same time, or one while runs were waited for. The agents of one run take turns.
    #[error(
        "the agent {agent} was asked while another one was answering: agents of one run take turns"
    )]
    NotItsTurn {
        /// The agent that was asked.
        agent: String,
    },
    /// A run of an agent is not started: none is allowed, or no more at once.
    #[error("the agent {agent} is not started: {reason}")]
    NotStarted {
        /// The agent's name.
        agent: String,
        /// Why.
        reason: String,
    },
    /// A team was given no agents.
    #[error("a team without agents comes to nothing: name one at least")]
    NoAgents,
    /// The history of the run is so near the engine's limits that nothing more may be started in it. A custom workflow
    /// does not continue as new.
    #[error("the history of the run is full: let fewer things happen in one run")]
    HistoryFull,
    /// The run requests what its caller may not have.
    #[error("the run is not started as it was asked for: {0}")]
    Rejected(OverrideRejected),
    /// The input does not have the form of the workflow's input.
    #[error("the input cannot be read")]
    Input(#[source] serde_json::Error),
    /// The output cannot be written as JSON.
    #[error("the output cannot be written as JSON")]
    Output(#[source] serde_json::Error),
    /// The workflow itself returns an error.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl WorkflowError {
    /// Returns a failure of the workflow itself: any error, or a text.
    pub fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(error.into())
    }

    /// Returns how the run ends with this error; or the error if the run does not end, but only cannot continue here.
    pub(crate) fn end(self) -> Result<(ExitReason, RunError), DurableError> {
        let (exit_reason, kind) = match &self {
            Self::Door(DurableError::Cancelled { reason }) => {
                let message = reason.clone();
                let message = message.unwrap_or_else(|| "the run was cancelled".to_owned());
                let kind = FailureKind::Cancelled;
                return Ok((ExitReason::Cancelled, RunError { kind, message }));
            }
            Self::Door(DurableError::Step(StepFailure { kind, .. })) => (ExitReason::Failed, *kind),
            Self::Door(DurableError::BadSignal { .. })
            | Self::Input(_)
            | Self::Rejected(_)
            | Self::NotStarted { .. }
            | Self::NoAgents => (ExitReason::Failed, FailureKind::InvalidRequest),
            Self::Agent {
                exit_reason, error, ..
            } => {
                let kind = error.as_ref().map(|error| error.kind);
                (*exit_reason, kind.unwrap_or(FailureKind::Internal))
            }
            Self::Turn { source, .. } => (ExitReason::Failed, source.kind()),
            Self::Answer { .. } => (ExitReason::Failed, FailureKind::InvalidAnswer),
            Self::HistoryFull => (ExitReason::Failed, FailureKind::ContextLength),
            Self::Door(_) => match self {
                Self::Door(error) => return Err(error),
                other => return Err(DurableError::engine(other)),
            },
            _ => (ExitReason::Failed, FailureKind::Internal),
        };
        let message = with_causes(&self);
        Ok((exit_reason, RunError { kind, message }))
    }
}
