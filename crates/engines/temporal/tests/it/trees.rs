//! Runs of a tree in which one run is ended from outside.

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::parked_tree;
use neuron_types::{ExitReason, RunEvent, RunId, RunPhase, StepId};
use temporalio_common::UntypedWorkflow;

use crate::stage::Stage;

/// The number of trees that are ended.
const TREES: usize = 10;

async fn terminate(stage: &Stage, run: &RunId) {
    let client = stage.client.temporal();
    let handle = client.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    handle.terminate(Default::default()).await.unwrap();
}

/// Starts a run that starts another, and waits until the child waits for a person.
async fn parked(stage: &Stage, name: &str) -> (RunId, RunId) {
    let (lead, _) = parked_tree();
    let run = stage.start(name, &lead).await;
    let child = run.child(StepId::new(1, 1));
    stage.reaches(&child, RunPhase::WaitingForApproval).await;
    (run, child)
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_whose_parent_was_terminated_end_with_their_lease() {
    let stage = Stage::set().await;
    let (_, executor) = parked_tree();
    let _worker = stage.worker(&executor);
    let mut trees = Vec::new();
    for number in 0..TREES {
        let (run, child) = parked(&stage, &format!("tree-{number}")).await;
        // Without a delay: on a slow machine the two would consider each other gone.
        terminate(&stage, &run).await;
        trees.push(child);
    }
    for child in &trees {
        let output = stage.client.wait_for_end(child).await.unwrap();
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        let message = output.error.unwrap().message;
        assert_eq!(message, "the run that started it is gone");
        stage.replays(child).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_learns_that_one_below_it_was_terminated() {
    let stage = Stage::set().await;
    let (_, executor) = parked_tree();
    let _worker = stage.worker(&executor);
    let (run, child) = parked(&stage, "lead").await;
    terminate(&stage, &child).await;
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(output.output.as_deref(), Some("Done."));
    let events = until(async || stage.client.events_after(&run, 0).await.ok()).await;
    let ended = events.into_iter().find_map(|event| match event.event {
        RunEvent::ChildEnded { exit_reason, .. } => Some(exit_reason),
        _ => None,
    });
    assert_eq!(ended, Some(ExitReason::Terminated));
    stage.replays(&run).await;
}
