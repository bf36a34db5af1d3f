//! Runs of a tree in which one run is ended from outside.

use neuron_testing::parked_tree;
use neuron_types::{ExitReason, RunEvent, RunId, RunPhase, StepId};

use crate::stage::Stage;

/// The number of trees that are ended at once.
const TREES: usize = 10;

/// Starts a run that starts another, and waits until the child waits for a person.
async fn parked(stage: &Stage, name: &str) -> (RunId, RunId) {
    let (lead, _) = parked_tree();
    let run = stage.start(name, &lead).await;
    let child = run.child(StepId::new(1, 1));
    stage.reaches(&child, RunPhase::WaitingForApproval).await;
    (run, child)
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_whose_parent_was_killed_end_with_their_lease() {
    let stage = Stage::set("killed-parents").await;
    let (_, executor) = parked_tree();
    let _worker = stage.worker(&executor).await;
    let mut trees = Vec::new();
    for number in 0..TREES {
        trees.push(parked(&stage, &format!("tree-{number}")).await);
    }
    for (run, _) in &trees {
        stage.change(run, "kill").await;
    }
    for (_, child) in &trees {
        let output = stage.wait(child).await;
        // When an invocation is killed, the server may also end what that invocation has sent.
        let is_gone = |message: &str| message == "the run that started it is gone";
        let error = output.error.unwrap();
        let is_killed = output.exit_reason == Some(ExitReason::Terminated);
        assert!(is_killed || is_gone(&error.message), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_learns_that_one_below_it_was_killed() {
    let stage = Stage::set("killed-child").await;
    let (_, executor) = parked_tree();
    let _worker = stage.worker(&executor).await;
    let (run, child) = parked(&stage, "lead").await;
    stage.change(&child, "kill").await;
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(output.output.as_deref(), Some("Done."));
    let ended = stage
        .events(&run)
        .await
        .into_iter()
        .find_map(|event| match event {
            RunEvent::ChildEnded { exit_reason, .. } => Some(exit_reason),
            _ => None,
        });
    assert_eq!(ended, Some(ExitReason::Terminated));
}
