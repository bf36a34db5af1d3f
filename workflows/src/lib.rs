#![doc = include_str!("../README.md")]

use neuron_context::Strategy;
use neuron_loop::AgentLoop;
use neuron_types::{DurableContext, DurableError, FailureKind, RunOutput, RunStart, StepFailure};

mod own;

pub use own::door::Door;
pub use own::run::run;
pub use own::scoped_agent::ScopedAgent;
pub use own::text::{from_text, to_text};
pub use own::workflow::Workflow;
pub use own::workflow_error::WorkflowError;

/// Runs one agent to its end, from a [`RunInput`](neuron_types::RunInput) or from where an earlier history of
/// the run left off, with the context strategy and the permission policy of its definition.
///
/// A run that failed, was cancelled or met a limit has an output too: its `exit_reason` says so.
///
/// # Errors
///
/// What keeps the run from going on here without ending it: [`DurableError::Suspended`],
/// [`DurableError::ContinuedAsNew`], [`DurableError::NonDeterminism`], [`DurableError::Engine`]; and
/// [`DurableError::Step`] for the definition of a workflow, which is no agent.
pub async fn agent<D: DurableContext>(
    door: D,
    start: impl Into<RunStart>,
) -> Result<RunOutput, DurableError> {
    let start = start.into();
    let name = &start.agent().name;
    if start.agent().team.is_some() {
        let text =
            format!("{name} is a workflow and no agent: start it as the workflow agent:{name}");
        return Err(StepFailure::new(FailureKind::InvalidRequest, text).into());
    }
    agent_loop(door, start).run().await
}

/// Returns the loop that [`agent`] runs, for whoever takes it step by step.
pub fn agent_loop<D: DurableContext>(door: D, start: RunStart) -> AgentLoop<D, Strategy> {
    let strategy = Strategy::from_policy(&start.agent().context);
    match start {
        RunStart::New(input) => AgentLoop::new(door, strategy, input),
        RunStart::Continued(state) => AgentLoop::resume(door, strategy, *state),
    }
}
