//! The inner half of a case as a workflow.

use neuron_types::{AgentSpec, DurableContext, Message, RunInput};
use neuron_workflows::{Door, Workflow, WorkflowError};

use super::cases;

/// The inner half of the case that its input names. Its output is the case's verdict: empty if the door behaves as it
/// must.
#[derive(Debug, Clone, Copy)]
pub struct DoorCase;

impl DoorCase {
    /// Returns the input of a run of this case.
    #[must_use]
    pub fn input(case: &str) -> RunInput {
        let workflow = AgentSpec {
            name: Self::NAME.to_owned(),
            team: Some(Vec::new()),
            ..AgentSpec::default()
        };
        RunInput::new(workflow, Message::user(case))
    }
}

impl Workflow for DoorCase {
    const NAME: &'static str = "door";
    const TEMPORAL_TYPE: &'static str = "agent:door";
    type Input = String;
    type Output = String;

    async fn run<D: DurableContext>(door: &Door<D>, case: String) -> Result<String, WorkflowError> {
        let verdict = cases::inside(&case, door.engine_door()).await;
        Ok(verdict.err().unwrap_or_default())
    }
}
