//! Workflows, each written once and generic over the door.
//!
//! [`agent`] runs one agent to completion. The local command, the Temporal worker and the Restate worker all
//! call it; they differ in the door that they hand in.

use neuron_context::Strategy;
use neuron_loop::AgentLoop;
use neuron_types::{DurableContext, DurableError, RunInput, RunOutput};

/// Runs one agent to its end, with the context strategy and the permission policy of its definition.
///
/// A run that failed, was cancelled or met a limit has an output too: its `exit_reason` says so.
///
/// # Errors
///
/// What keeps the run from going on here without ending it: [`DurableError::Suspended`],
/// [`DurableError::NonDeterminism`], [`DurableError::Engine`].
pub async fn agent<D: DurableContext>(door: D, input: RunInput) -> Result<RunOutput, DurableError> {
    let strategy = Strategy::from_policy(&input.agent.context);
    AgentLoop::new(door, strategy, input).run().await
}
