//! Workflows, each written once and generic over the door.
//!
//! [`agent`] runs one agent to completion. The local command, the Temporal worker and the Restate worker all
//! call it; they differ in the door that they hand in.

use neuron_context::Strategy;
use neuron_loop::AgentLoop;
use neuron_types::{DurableContext, DurableError, RunOutput, RunStart};

/// Runs one agent to its end, from a [`RunInput`](neuron_types::RunInput) or from where an earlier history of
/// the run left off, with the context strategy and the permission policy of its definition.
///
/// A run that failed, was cancelled or met a limit has an output too: its `exit_reason` says so.
///
/// # Errors
///
/// What keeps the run from going on here without ending it: [`DurableError::Suspended`],
/// [`DurableError::ContinuedAsNew`], [`DurableError::NonDeterminism`], [`DurableError::Engine`].
pub async fn agent<D: DurableContext>(
    door: D,
    start: impl Into<RunStart>,
) -> Result<RunOutput, DurableError> {
    let start = start.into();
    let strategy = Strategy::from_policy(&start.agent().context);
    let mut run = match start {
        RunStart::New(input) => AgentLoop::new(door, strategy, input),
        RunStart::Continued(state) => {
            AgentLoop::resume(door, strategy, *state).map_err(DurableError::engine)?
        }
    };
    run.run().await
}
