//! The errors of a run.

use std::sync::Arc;

use neuron_engine::RunClientError;
use neuron_types::{
    DurableError, ExitReason, InvalidRunId, OverrideRejected, RunError, RunId, RunPhase, Ticket,
};

/// The error that keeps a run from starting, from continuing, or from an answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RunFailure {
    /// The run's id is not valid.
    #[error("the run's id is no id")]
    RunId {
        /// What is wrong with the id.
        #[source]
        source: InvalidRunId,
    },
    /// The input cannot be written as JSON.
    #[error("the run's input cannot be written as JSON")]
    Input {
        /// Why.
        #[source]
        source: Arc<serde_json::Error>,
    },
    /// The id belongs to a run that was started with another request: see
    /// [`RunRequest::is_same_start`](neuron_types::RunRequest::is_same_start). The difference is left out, since the
    /// run may belong to another person.
    #[error(
        "there is a run {run_id} already, and it was started with something else: another agent, input, preamble, overrides, \
         tenant, owner or labels"
    )]
    OtherRun {
        /// The id.
        run_id: RunId,
    },
    /// The agent does not accept the changes of the run. Nothing was started.
    #[error(transparent)]
    Rejected(OverrideRejected),
    /// The agent asks a person, or waits for another system, and there is no way to answer.
    #[error(
        "agent {agent} asks a person{} and nobody can answer here: start the run as a stream and answer its tickets, or \
         say how long a question stays open",
        about(.asked.as_deref())
    )]
    NobodyToAsk {
        /// The agent.
        agent: String,
        /// The question, if the run got that far.
        asked: Option<Box<Ticket>>,
    },
    /// The engine rejects the request or cannot be reached.
    #[error(transparent)]
    Client(Arc<RunClientError>),
    /// The run cannot continue in this process. What was journaled is safe, and the run can be resumed.
    #[error("run {run_id} cannot go on here")]
    Stuck {
        /// The run.
        run_id: RunId,
        /// Why.
        #[source]
        source: Arc<DurableError>,
    },
    /// The run is not over: its items have not been read to the end, or it waits for a person.
    #[error("run {run_id} is not over: it is {state}")]
    NotOver {
        /// The run.
        run_id: RunId,
        /// The run's state.
        state: RunPhase,
    },
    /// The run ended without an answer: it failed, was cancelled, or met a limit.
    #[error("run {run_id} ended without an answer: {}", why(*.exit_reason, .error.as_ref()))]
    Ended {
        /// The run.
        run_id: RunId,
        /// Why it ended.
        exit_reason: ExitReason,
        /// The error with which it failed.
        error: Option<RunError>,
    },
    /// The answer cannot be read as the requested type.
    #[error("the answer of run {run_id} cannot be read as what was asked for")]
    Output {
        /// The run.
        run_id: RunId,
        /// Why.
        #[source]
        source: Arc<serde_json::Error>,
    },
}

impl RunFailure {
    /// Returns whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Client(error) => error.is_transient(),
            Self::NotOver { .. } => true,
            _ => false,
        }
    }
}

impl<E: Into<RunClientError>> From<E> for RunFailure {
    fn from(error: E) -> Self {
        Self::Client(Arc::new(error.into()))
    }
}

fn about(asked: Option<&Ticket>) -> String {
    asked.map_or_else(String::new, |ticket| {
        format!(
            " ({} ticket {}, about {})",
            ticket.kind,
            ticket.ticket,
            ticket.subject()
        )
    })
}

fn why(exit_reason: ExitReason, error: Option<&RunError>) -> String {
    match error {
        Some(error) => error.message.clone(),
        None => match serde_json::to_value(exit_reason) {
            Ok(serde_json::Value::String(reason)) => reason,
            _ => format!("{exit_reason:?}"),
        },
    }
}
