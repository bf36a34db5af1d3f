//! Workers that die or stop in the middle of a run.

use neuron_engine::RunClient as _;
use neuron_harness::{FakeModel, chat, free_address, has_heard, until};
use neuron_testing::AgentFolder;
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_on_after_its_worker_was_killed_without_a_finished_step_again() {
    let model = FakeModel::hanging_in_the_last(vec![
        chat::calls(&[("call_1", "bash", json!({"command": "echo one >> effects"}))]),
        chat::text("Done."),
    ]);
    let place = Place::asking(&model).await;
    let worker = place.worker();
    let run = place.start("killed").await;
    until(async || (model.requests().len() >= 2).then_some(())).await;
    worker.kill();

    let _worker = place.worker();
    let output = place.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "one\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_in_flight_is_not_made_again_and_the_model_is_told() {
    let place = Place::new(&json!([
        {"tool_calls": [{"name": "bash", "input": {"command": AgentFolder::held_command()}}]},
        {"text": "Done."},
    ]))
    .await;
    let worker = place.worker();
    let run = place.start("write").await;
    until(async || (!place.folder.effects().is_empty()).then_some(())).await;
    worker.kill();

    let _worker = place.worker();
    let output = place.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "begun\n");
    let events = json!(place.client.events_after(&run, 0).await.unwrap()).to_string();
    assert!(events.contains("outcome_unknown"), "{events}");
    let transcript = json!(place.client.conversation(&run).await.unwrap()).to_string();
    assert!(
        transcript.contains("may or may not have taken effect"),
        "{transcript}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_stopped_lets_its_step_end() {
    let place = Place::new(&json!([
        {"tool_calls": [{"name": "bash", "input": {"command": AgentFolder::held_command()}}]},
        {"text": "Done."},
    ]))
    .await;
    let health = free_address();
    let worker = place.worker_with(&["--http", &health]);
    let run = place.start("stopped").await;
    until(async || (!place.folder.effects().is_empty()).then_some(())).await;
    let stopping = worker.ask_to_stop();
    has_heard(&health).await;
    place.folder.release();
    let status = stopping.await;
    assert_eq!(status.code(), Some(0));
    assert_eq!(place.folder.effects(), "begun\nended\n");

    let _worker = place.worker();
    let output = place.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(place.folder.effects(), "begun\nended\n");
    let events = json!(place.client.events_after(&run, 0).await.unwrap()).to_string();
    assert!(!events.contains("outcome_unknown"), "{events}");
}
