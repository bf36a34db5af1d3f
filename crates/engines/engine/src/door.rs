//! What every door answers where it cannot do what it is asked.

use std::error::Error as _;

use neuron_types::{DurableError, ExitReason, FailureKind, RunError, StepFailure};

/// A run was started with the whole definition of an agent, where callers name agents.
#[must_use]
pub fn definition_rejected(agent: &str) -> StepFailure {
    StepFailure::new(
        FailureKind::InvalidRequest,
        format!(
            "the run was started with a definition of the agent {agent:?}, and this worker takes names only: what an \
             agent is, its worker knows"
        ),
    )
}

/// Returns how a run ends whose workflow returned an error in the place of an output.
#[must_use]
pub fn end_of(error: &DurableError) -> (ExitReason, RunError) {
    let (exit_reason, kind) = match error {
        DurableError::Cancelled { .. } => (ExitReason::Cancelled, FailureKind::Cancelled),
        DurableError::Step(failure) => (ExitReason::Failed, failure.kind),
        _ => (ExitReason::Failed, FailureKind::Internal),
    };
    let message = match (error, error.source()) {
        (DurableError::Cancelled { reason }, _) => reason
            .clone()
            .unwrap_or_else(|| "the run was cancelled".to_owned()),
        (_, Some(cause)) => format!("{error}: {cause}"),
        (_, None) => error.to_string(),
    };
    (exit_reason, RunError { kind, message })
}
