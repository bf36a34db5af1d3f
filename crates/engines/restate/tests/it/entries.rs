//! How many entries a turn makes in the run's journal, counted by the server.

use std::time::Duration;

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{ToolEffects, ToolOutput};
use serde_json::json;

use crate::{
    journals::{journals, turns, unlimited},
    stage::Stage,
};

/// Returns the entries and bytes of a run of so many turns that each call this tool once, except the last.
async fn journal(stage: &Stage, tool: &NotedTool, name: &str, count: usize) -> (u64, u64) {
    let (spec, executor) = noted_agent(
        &NotedModel::new(&turns(count, name)),
        std::slice::from_ref(tool),
    );
    let _worker = stage.worker(&executor).await;
    let run = stage
        .start(&format!("{name}-{count}"), &unlimited(spec))
        .await;
    stage.wait(&run).await;
    let [journal] = journals(stage, &run, None).await.try_into().unwrap();
    (journal.entries, journal.bytes)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_makes_five_entries_with_a_read_and_seven_with_a_write() {
    let stage = Stage::set("entries").await;
    for (name, effects, most, most_bytes) in [
        ("read", ToolEffects::ReadOnly, 5, 1_600),
        ("write", ToolEffects::Write, 7, 1_700),
    ] {
        let tool = NotedTool::new(name, effects, |_| async {
            Ok(ToolOutput::text("x".repeat(200)))
        });
        let (one, of_one) = journal(&stage, &tool, name, 1).await;
        let (eleven, of_eleven) = journal(&stage, &tool, name, 11).await;
        let bytes = (of_eleven - of_one) / 10;
        println!("{name}: {one} entries of one turn, {eleven} of eleven; {bytes} bytes a turn");
        assert_eq!(eleven - one, 10 * most, "{name}");
        // The run's own entries: its input, where it is, a request for the state, its start, its last status and its
        // output. And a model call, with the status before it.
        assert!(one <= 11, "{one}");
        // 200 of them are the tool's result, which is in the wait and in the events.
        assert!(bytes <= most_bytes, "{bytes} bytes a turn");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_emitted_can_be_read_while_a_tool_takes_its_time() {
    let (tool, gate) = NotedTool::gate();
    let script = json!({"turns": [
        {"tool_calls": [{"name": "gate", "input": {}}]},
        {"text": "Done."},
    ]});
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &[tool]);
    let stage = Stage::set("readable").await;
    let _worker = stage
        .worker_with(&executor, |services| {
            services.with_inactivity_timeout(Duration::from_secs(86_400)) // Nothing ends by it.
        })
        .await;
    let run = stage.begin("readable", &spec).await;
    let called = |event: &neuron_types::RecordedEvent| {
        matches!(event.event, neuron_types::RunEvent::ToolCalled { .. })
    };
    until(async || {
        let events = stage.client.events_after(&run, 0).await.ok()?;
        events.iter().any(called).then_some(())
    })
    .await;
    gate.add_permits(1);
    stage.wait(&run).await;
}
