//! Replays of recorded histories against this program.

pub use neuron_temporal::{Replay, ReplayError};
use neuron_workflows::Workflow;

use super::AgentRun;
use crate::agent::Hosted;

/// Returns a replay of histories of agents' runs. It needs no server and no agent: it checks whether this build decides as
/// the history has it.
///
/// # Errors
///
/// [`ReplayError::Differs`] with the SDK's error, if it rejects the workflow.
pub fn replay_agents() -> Result<Replay, ReplayError> {
    Replay::new::<AgentRun>().map_err(|error| ReplayError::Differs(Box::new(error)))
}

/// Returns a replay of histories of runs of this workflow.
///
/// ```no_run
/// use neuron::{temporal, workflow::{Door, DurableContext, WorkflowError}};
///
/// /// Asks one agent.
/// #[neuron::workflow(name = "report")]
/// async fn report<D: DurableContext>(door: &Door<D>, topic: String) -> Result<String, WorkflowError> {
///     door.scoped("writer")?.ask(topic).await
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// // As `temporal workflow show --workflow-id RUN --output json` exports it.
/// let history = std::fs::read("tests/histories/report.json")?;
/// temporal::replay_workflow::<Report>()?.json(&history).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`replay_agents`].
pub fn replay_workflow<W: Workflow>() -> Result<Replay, ReplayError> {
    Replay::new::<Hosted<W>>().map_err(|error| ReplayError::Differs(Box::new(error)))
}
