//! What every door returns if it cannot do what is requested.

use std::error::Error as _;

use neuron_types::{DurableError, ExitReason, FailureKind, RunError, RunEvent};

/// Returns how a run ends whose workflow returned an error in the place of an output, and the event of that end. `said`
/// is the last text of its agent, if there is one.
#[must_use]
pub fn end_event(error: &DurableError, said: Option<String>) -> (ExitReason, RunEvent) {
    let (exit_reason, error) = end_of(error);
    let ended = RunEvent::RunEnded {
        exit_reason,
        output: said,
        error: Some(error),
        pools: None,
    };
    (exit_reason, ended)
}

fn end_of(error: &DurableError) -> (ExitReason, RunError) {
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
