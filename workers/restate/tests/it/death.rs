//! Workers that die or stop in the middle of a run.

use neuron_harness::{FakeModel, chat, has_heard, until};
use neuron_testing::AgentFolder;
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_its_worker_was_killed_without_a_finished_step_again() {
    let bash = |id: &'static str, command: &str| (id, "bash", json!({"command": command}));
    let model = FakeModel::hanging_in_the_last(vec![
        chat::calls(&[bash("call_1", "echo one >> effects")]),
        chat::calls(&[
            bash("call_2", "echo two >> effects"),
            bash("call_3", "echo three >> effects"),
        ]),
        chat::text("Done."),
    ]);
    let place = Place::asking("killed", &model).await;
    let worker = place.worker().await;
    let run = place.start("killed").await;
    until(async || (model.requests().len() >= 3).then_some(())).await;
    worker.program.kill();

    let _worker = place.worker().await;
    let output = place.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "one\ntwo\nthree\n");
}

/// Kills the worker while `calls` of its only turn are made, and checks that none of them is made again.
async fn killed_in_a_write(prefix: &'static str, calls: usize) {
    let call = json!({"name": "bash", "input": {"command": AgentFolder::held_command()}});
    let turns = json!([{"tool_calls": vec![call; calls]}, {"text": "Done."}]);
    let place = Place::with_settings(prefix, &turns, "parallel_writes = true").await;
    let worker = place.worker().await;
    let run = place.start("write").await;
    until(async || (place.folder.effects().lines().count() == calls).then_some(())).await;
    worker.program.kill();

    let _worker = place.worker().await;
    let output = place.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects().lines().count(), calls);
    let events = place.events(&run).await;
    assert_eq!(events.matches("outcome_unknown").count(), calls, "{events}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_in_flight_is_not_made_again() {
    killed_in_a_write("one-write", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_in_flight_beside_each_other_are_not_made_again() {
    killed_in_a_write("two-writes", 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_stopped_lets_its_step_end_and_starts_no_other() {
    let place = Place::new(
        "stopped",
        &json!([
            {"tool_calls": [{"name": "bash", "input": {"command": AgentFolder::held_command()}}]},
            {"tool_calls": [{"name": "bash", "input": {"command": "echo next >> effects"}}]},
            {"text": "Done."},
        ]),
    )
    .await;
    let worker = place.worker().await;
    let run = place.start("stopped").await;
    until(async || (!place.folder.effects().is_empty()).then_some(())).await;
    let stopping = worker.program.ask_to_stop();
    has_heard(&worker.health).await;
    place.folder.release();
    let status = stopping.await;
    assert_eq!(status.code(), Some(0));
    assert_eq!(place.folder.effects(), "begun\nended\n");

    let _worker = place.worker().await;
    let output = place.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "begun\nended\nnext\n");
    let events = place.events(&run).await;
    assert!(!events.contains("outcome_unknown"), "{events}");
}
