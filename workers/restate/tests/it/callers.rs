//! What a worker accepts from callers.

use neuron_types::{
    AgentSpec, ApprovalRules, Message, RunPhase, RunRequest, ToolAnnotations, ToolDefinition,
};
use serde_json::json;

use crate::place::Place;

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_taken_only_where_the_worker_was_started_for_it() {
    let turns = json!([{"text": "Hi."}]);
    let place = Place::new("callers", &turns).await;
    let whole = || RunRequest::new(place.folder.definition(), Message::user("Go."));

    let worker = place.worker().await;
    let run = place.start_with("rejected", whole()).await;
    let output = place.wait(&run).await;
    assert_eq!(output.state, RunPhase::Failed, "{output:?}");
    let message = output.error.unwrap().message;
    assert!(message.contains("takes names only"), "{message}");
    assert!(worker.program.stop().await.success());

    let _worker = place.worker_called_with(&["--accept-definitions"]).await;
    let run = place.start_with("taken", whole()).await;
    let output = place.wait(&run).await;
    assert_eq!(output.state, RunPhase::Completed, "{output:?}");
}

/// More agents of the file, besides one that has `bash` and denies some of its calls.
const AGENTS: &str = r#"
deny = ["bash(command=echo one*)"]

[agents.reader]
model = "script/test"
tools = ["read_file"]

[agents.writer]
model = "script/test"
tools = ["bash"]"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_grants_nothing_that_the_worker_does_not() {
    let turns = json!([
        {"tool_calls": [{"name": "bash", "input": {"command": "echo one >> effects"}}]},
        {"text": "Done."},
    ]);
    let place = Place::with_settings("granted", &turns, AGENTS).await;
    let _worker = place.worker_called_with(&["--accept-definitions"]).await;
    let honest: fn(&mut AgentSpec) = |_| {};
    let harmless: fn(&mut AgentSpec) = |spec| {
        spec.head_mut().tools.iter_mut().for_each(read_only);
    };
    for (run, agent, change, effects) in [
        // The worker's agent has no such tool.
        ("not-had", "reader", honest, ""),
        // The worker's agent denies such calls.
        ("denied", "default", honest, ""),
        // The worker's agent has the tool as one that changes something.
        ("claimed", "writer", harmless, ""),
        ("granted", "writer", honest, "one\n"),
    ] {
        let mut definition = place.folder.definition();
        definition.name = agent.to_owned();
        definition.approvals = ApprovalRules::default();
        change(&mut definition);
        let request = RunRequest::new(definition, Message::user("Go."));
        let run = place.start_with(run, request).await;
        let output = place.wait(&run).await;
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let events = place.events(&run).await;
        let is_refused = events.contains("\"is_error\":true");
        assert_eq!(is_refused, effects.is_empty(), "{events}");
        assert_eq!(place.folder.effects(), effects, "{run}");
    }
}

fn read_only(tool: &mut ToolDefinition) {
    tool.annotations = Some(ToolAnnotations {
        read_only_hint: Some(true),
        ..ToolAnnotations::default()
    });
}
