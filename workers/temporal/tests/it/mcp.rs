//! Workers whose agents have the tools of an MCP server.

use neuron_engine::RunClient as _;
use neuron_harness::{have_ended, is_running};
use neuron_testing::StubbornServer;
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_starts_its_servers_once_and_leaves_none_behind() {
    let place = Place::new(&json!([
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"text": "Done."},
    ]))
    .await;
    let server = StubbornServer::of(&place.folder);
    let worker = place.worker();
    let ids = server.ids();
    for run in ["one", "two"] {
        let run = place.start(run).await;
        let output = place.client.wait_for_end(&run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let transcript = json!(place.client.conversation(&run).await.unwrap()).to_string();
        assert!(transcript.contains("fine"), "{transcript}");
    }
    assert_eq!(server.ids(), ids, "one server for both runs");
    assert!(ids.iter().all(|id| is_running(*id)));
    assert!(worker.stop().await.success());
    have_ended(&ids).await;
}
