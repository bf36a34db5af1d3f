//! Workers whose agents have the tools of an MCP server.

use neuron_harness::{have_ended, is_running};
use neuron_testing::StubbornServer;
use neuron_types::RunOutput;
use serde_json::json;

use crate::place::Place;

async fn run(place: &Place, run_id: &str) -> RunOutput {
    let run_id = place.start(run_id).await;
    place.wait(&run_id).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_starts_its_servers_once_and_leaves_none_behind() {
    let turns = json!([
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"text": "Done."},
    ]);
    let place = Place::new("mcp-once", &turns).await;
    let server = StubbornServer::of(&place.folder);
    let worker = place.worker().await;
    let ids = server.ids();
    for run_id in ["one", "two"] {
        let output = run(&place, run_id).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let events = place.events(&output.run_id).await;
        assert!(events.contains("\"is_error\":false"), "{events}");
    }
    assert_eq!(server.ids(), ids, "one server for both runs");
    assert!(ids.iter().all(|id| is_running(*id)));
    assert!(worker.program.stop().await.success());
    have_ended(&ids).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_is_there_again_for_the_next_call() {
    let turns = json!([
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"tool_calls": [{"name": "bash", "input": {"command": "kill -9 $(cat theirs)"}}]},
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"text": "Done."},
    ]);
    let place = Place::new("mcp-killed", &turns).await;
    let server = StubbornServer::of(&place.folder);
    let worker = place.worker().await;
    let before = server.ids();
    let output = run(&place, "killed").await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let events = place.events(&output.run_id).await;
    assert_eq!(events.matches("\"is_error\":false").count(), 3, "{events}");
    let after = server.ids();
    assert!(before != after && after.iter().all(|id| is_running(*id)));
    assert!(worker.program.stop().await.success());
    have_ended(&after).await;
}
