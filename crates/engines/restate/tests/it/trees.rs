//! Runs of a tree: how ends reach the runs above, and runs that are ended from outside.

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_patience::patience;
use neuron_testing::{decision, parked_tree};
use neuron_types::{AgentSpec, ExitReason, RunEvent, RunId, RunPhase, StepId, Verdict};

use crate::{journals::journals, stage::Stage};

/// The number of trees that are ended.
const TREES: usize = 10;

/// Starts a run that starts another, and waits until the child waits for a person.
async fn parked(stage: &Stage, name: &str) -> (RunId, RunId) {
    let (lead, _) = parked_tree();
    parked_with(stage, name, &lead).await
}

/// As [`parked`], with a lease that no slow moment of the machine ends.
async fn parked_at_length(stage: &Stage, name: &str) -> (RunId, RunId) {
    let (mut lead, _) = parked_tree();
    lead.lease = patience();
    parked_with(stage, name, &lead).await
}

async fn parked_with(stage: &Stage, name: &str, lead: &AgentSpec) -> (RunId, RunId) {
    let run = stage.start(name, lead).await;
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
        let (run, child) = parked(&stage, &format!("tree-{number}")).await;
        // Without a delay: on a slow machine the two would consider each other gone.
        stage.change(&run, "kill").await;
        trees.push(child);
    }
    for child in &trees {
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

/// Answers the child's question, and waits for the end of the run that started it, which learns once how the child ended.
async fn answered(stage: &Stage, run: &RunId, child: &RunId) {
    let asked = stage.client.status(child).await.unwrap().approvals;
    let mut answer = decision(&asked[0], Verdict::Answer);
    answer.text = Some("Yes.".to_owned());
    stage.client.decide(child, &answer).await.unwrap();
    let output = stage.wait(run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(output.output.as_deref(), Some("Done."));
    let mut ends = Vec::new();
    for event in stage.events(run).await {
        match event {
            RunEvent::ChildEnded { exit_reason, .. } => ends.push(exit_reason),
            RunEvent::SignalIgnored { .. } => panic!("{event:?}"),
            _ => {}
        }
    }
    assert_eq!(ends, [ExitReason::Complete]);
}

/// Returns how many entries of this kind the journal of the run's first invocation has.
async fn count(stage: &Stage, run: &RunId, kind: &str) -> usize {
    let target = format!("{}/{run}/run", stage.names.agent());
    let query = format!(
        "SELECT j.index FROM sys_journal j JOIN sys_invocation i ON i.id = j.id \
         WHERE i.target = '{target}' AND j.entry_type = '{kind}'"
    );
    stage.query(&query).await.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_run_is_a_signal_from_its_journal_to_that_of_the_run_above() {
    let stage = Stage::set("ends").await;
    let (_, executor) = parked_tree();
    let _worker = stage.worker(&executor).await;
    let (run, child) = parked_at_length(&stage, "lead").await;
    answered(&stage, &run, &child).await;
    // The other entry of the child is the answer of a person.
    assert_eq!(count(&stage, &child, "Command: SendSignal").await, 1);
    assert_eq!(count(&stage, &run, "Notification: Signal").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_has_continued_as_new_learns_how_what_it_started_before_ended() {
    let stage = Stage::set("ends-later").await;
    let (_, executor) = parked_tree();
    let _worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(1))
        .await;
    let (run, child) = parked_at_length(&stage, "lead").await;
    for run in [&run, &child] {
        until(async || (journals(&stage, run, None).await.len() >= 2).then_some(())).await;
    }
    answered(&stage, &run, &child).await;
}
