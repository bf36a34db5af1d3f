#![doc = include_str!("../README.md")]

use neuron_context::Strategy;
use neuron_loop::AgentLoop;
use neuron_types::{
    DurableContext, DurableError, FailureKind, RunInput, RunOutput, RunStart, StepFailure,
};

mod own;
mod parent;
pub mod team;

pub use own::agent_answer::AgentAnswer;
pub use own::carry_out::{CarriedOut, EFFECT_SIGNAL};
pub use own::child_run::{ChildRun, child_agent};
pub use own::door::Door;
pub use own::run::{run, run_of_tree};
pub use own::scoped_agent::ScopedAgent;
pub use own::text::{from_text, to_text};
pub use own::workflow::Workflow;
pub use own::workflow_error::WorkflowError;
use parent::{parent_of, tell_parent};

/// Runs one agent to its end, from the run's input or from where an earlier history of the run left off,
/// with the context strategy and the permission policy of its definition.
///
/// A run that failed, was cancelled or met a limit has an output too, with that reason as its `exit_reason`. A run that
/// another run has started sends its end to that run.
///
/// # Errors
///
/// The error that keeps the run from continuing here without ending it: [`DurableError::Suspended`],
/// [`DurableError::ContinuedAsNew`], [`DurableError::NonDeterminism`], [`DurableError::Engine`]; and
/// [`DurableError::Step`] for the definition of a workflow, which is not an agent.
pub async fn agent<D: DurableContext>(
    door: D,
    start: impl Into<RunStart>,
) -> Result<RunOutput, DurableError> {
    let start = start.into();
    let parent = parent_of(&start);
    let ended = match agent_loop(&door, start).await {
        Ok(mut agent) => agent.run().await,
        Err(error) => Err(error),
    };
    tell_parent(&door, parent, ended).await
}

/// Begins the run, if it has yet to begin, and returns the loop that [`agent`] runs, for callers that take it step by
/// step.
///
/// # Errors
///
/// The error that keeps the run from [beginning](DurableContext::begin); [`DurableError::Step`] for the definition of a
/// workflow, which is not an agent.
pub async fn agent_loop<D: DurableContext>(
    door: D,
    start: RunStart,
) -> Result<AgentLoop<D, Strategy>, DurableError> {
    let begun = match begin(&door, start).await? {
        RunStart::Continued(state) => {
            let strategy = Strategy::from_policy(&state.agent.context);
            return Ok(AgentLoop::resume(door, strategy, *state));
        }
        RunStart::New(input) => input,
        RunStart::Request { .. } => return Err(not_begun()),
    };
    let agent = &begun.agent;
    if agent.team.is_some() {
        let name = &agent.name;
        let text =
            format!("{name} is a workflow and no agent: start it as the workflow agent:{name}");
        return Err(StepFailure::new(FailureKind::InvalidRequest, text).into());
    }
    let strategy = Strategy::from_policy(&agent.context);
    Ok(AgentLoop::new(door, strategy, begun))
}

/// Begins the run, if it has yet to begin, and returns where it starts then: never a
/// [request](RunStart::Request). [`agent`], [`agent_loop`] and [`run`] do this themselves.
///
/// # Errors
///
/// The error that keeps the run from [beginning](DurableContext::begin).
pub async fn begin<D: DurableContext>(door: &D, start: RunStart) -> Result<RunStart, DurableError> {
    match start {
        RunStart::Request { request, directory } => {
            let begun = door.begin(*request).await?;
            Ok(RunStart::New(RunInput { directory, ..begun }))
        }
        begun => Ok(begun),
    }
}

fn not_begun() -> DurableError {
    DurableError::engine("the run has not begun")
}
