//! Workers whose agents have the tools of an MCP server.

use std::{
    fs,
    path::{Path, PathBuf},
};

use neuron_runtime::{AgentFile, ProcessEnvironment};
use neuron_testing::until;
use neuron_types::{AgentSpec, Message, RunId, RunInput, RunOutput};
use serde_json::{Value, json};

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

/// A place whose agent has the tools of a server, and where the worker's server writes its ids.
struct WithServer {
    place: Place,
    agent: AgentSpec,
    ids: PathBuf,
}

impl WithServer {
    async fn new(prefix: &'static str, turns: &Value) -> Self {
        let place = Place::new(prefix, turns).await;
        let folder = place.folder.path();
        let file = folder.join("neuron.toml");
        let text = fs::read_to_string(&file).unwrap();
        let text = text.replace("[\"bash\"]", "[\"bash\", \"mcp:h\"]");
        let with_server = |ids: &Path| {
            format!("{text}\n[mcp.h]\ncommand = [\"node\", {SERVER:?}, \"stubborn\", {ids:?}]\n")
        };

        // Discovered by whoever starts the runs, with a server of its own.
        fs::write(&file, with_server(&folder.join("mine"))).unwrap();
        let mut agents = AgentFile::load(&file).unwrap();
        let servers = agents
            .start_mcp(["default"], folder, &ProcessEnvironment)
            .await
            .unwrap();
        let agent = agents.agent("default").unwrap();
        servers.stop().await;

        let ids = folder.join("theirs");
        fs::write(&file, with_server(&ids)).unwrap();
        Self { place, agent, ids }
    }

    /// The processes of the newest server.
    fn ids(&self) -> String {
        fs::read_to_string(&self.ids).unwrap()
    }

    async fn run(&self, run_id: &str) -> RunOutput {
        let run_id = RunId::new(run_id).unwrap();
        let input = RunInput {
            agent: self.agent.clone(),
            prompt: Message::user("Go."),
        };
        self.place.client.start(&run_id, &input).await.unwrap();
        self.place.wait(&run_id).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_starts_its_servers_once_and_leaves_none_behind() {
    let turns = json!([
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"text": "Done."},
    ]);
    let it = WithServer::new("mcp-once", &turns).await;
    let worker = it.place.worker().await;
    let ids = it.ids();
    for run_id in ["one", "two"] {
        let output = it.run(run_id).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let events = it.place.events(&RunId::new(run_id).unwrap()).await;
        assert!(events.contains("\"is_error\":false"), "{events}");
    }
    assert_eq!(it.ids(), ids, "one server for both runs");
    assert!(ids.split(' ').all(is_running));
    assert!(worker.program.stop().await.success());
    until(async || (!ids.split(' ').any(is_running)).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_killed_is_there_again_for_the_next_call() {
    let turns = json!([
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"tool_calls": [{"name": "bash", "input": {"command": "kill -9 $(cat theirs)"}}]},
        {"tool_calls": [{"name": "h__fine", "input": {}}]},
        {"text": "Done."},
    ]);
    let it = WithServer::new("mcp-killed", &turns).await;
    let worker = it.place.worker().await;
    let before = it.ids();
    let output = it.run("killed").await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let events = it.place.events(&RunId::new("killed").unwrap()).await;
    assert_eq!(events.matches("\"is_error\":false").count(), 3, "{events}");
    let after = it.ids();
    assert!(before != after && after.split(' ').all(is_running));
    assert!(worker.program.stop().await.success());
    until(async || (!after.split(' ').any(is_running)).then_some(())).await;
}
