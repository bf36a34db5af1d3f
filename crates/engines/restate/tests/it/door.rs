//! The door, call by call: every case is a run of one workflow, on one server and one worker.

use std::sync::Arc;

use neuron_testing::door::{DoorCase, DoorRoom, all_hold_at};
use neuron_workflows::Workflow;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    let (stage, room) = (Stage::set("door").await, DoorRoom::default());
    let _worker = stage
        .worker_with(&room.executor(), |services| {
            services.with_workflow(DoorCase::NAME, |door, start| {
                Box::pin(neuron_workflows::run::<DoorCase, _>(door, start))
            })
        })
        .await;
    all_hold_at(Arc::new(stage.client.clone()), &room).await;
}
