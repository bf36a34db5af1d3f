//! The door, call by call: every case is a run of one workflow, on one server and one worker.

use std::sync::Arc;

use neuron_temporal::{AgentWorkflow, TemporalDurableContext};
use neuron_testing::door::{DoorCase, DoorRoom, all_hold_at};
use neuron_types::{DurableError, RunOutput, RunStart};
use neuron_workflows::Workflow;

use crate::stage::Stage;

struct Served;

impl AgentWorkflow for Served {
    const NAME: &'static str = DoorCase::TEMPORAL_TYPE;

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::run::<DoorCase, _>(door, start).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    let (stage, room) = (Stage::set().await, DoorRoom::default());
    let _worker = stage.worker_with(&room.executor(), |builder| builder.workflow::<Served>());
    let client = stage.client.clone().with_workflow(DoorCase::TEMPORAL_TYPE);
    all_hold_at(Arc::new(client), &room).await;
}
