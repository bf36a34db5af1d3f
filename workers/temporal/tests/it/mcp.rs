//! Workers whose agents have the tools of an MCP server.

use std::{fs, path::Path};

use neuron_runtime::{AgentFile, ProcessEnvironment};
use neuron_testing::until;
use neuron_types::{Message, RunId, RunInput};
use serde_json::json;

use crate::place::Place;

/// A server that ignores SIGTERM, has a child that does so too, and writes the ids of both.
const SERVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../crates/neuron-mcp/tests/it/hostile.mjs"
);

fn is_running(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat"))
        .is_ok_and(|status| !status.rsplit(')').next().unwrap().trim().starts_with('Z'))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_starts_its_servers_once_and_leaves_none_behind() {
    let place = Place::new(&json!([
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"text": "Done."},
    ]))
    .await;
    let folder = place.folder.path();
    let file = folder.join("neuron.toml");
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace("[\"bash\"]", "[\"bash\", \"mcp:h\"]");
    let with_server = |ids: &Path| {
        format!("{text}\n[mcp.h]\ncommand = [\"node\", {SERVER:?}, \"stubborn\", {ids:?}]\n")
    };

    // Discovered by whoever starts the runs, with a server of its own.
    let mine = folder.join("mine");
    fs::write(&file, with_server(&mine)).unwrap();
    let mut agents = AgentFile::load(&file).unwrap();
    let servers = agents
        .start_mcp(["default"], folder, &ProcessEnvironment)
        .await
        .unwrap();
    let agent = agents.agent("default").unwrap();
    servers.stop().await;

    let theirs = folder.join("theirs");
    fs::write(&file, with_server(&theirs)).unwrap();
    let worker = place.worker();
    let ids = fs::read_to_string(&theirs).unwrap();
    for run in ["one", "two"] {
        let run = RunId::new(run).unwrap();
        let input = RunInput {
            agent: agent.clone(),
            prompt: Message::user("Go."),
        };
        place.client.start(&run, input, "neuron").await.unwrap();
        let output = place.client.wait(&run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let transcript = json!(place.client.transcript(&run).await.unwrap()).to_string();
        assert!(transcript.contains("fine"), "{transcript}");
    }
    assert_eq!(
        fs::read_to_string(&theirs).unwrap(),
        ids,
        "one server for both runs"
    );
    assert!(ids.split(' ').all(is_running));
    assert!(worker.stop().await.success());
    until(async || (!ids.split(' ').any(is_running)).then_some(())).await;
}
