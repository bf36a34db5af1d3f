//! Hooks of the executor.

use neuron_types::{AgentSpec, ExitReason};
use serde_json::json;

use crate::{Host, Stage, agent, expect};

/// A hook that skips one call and ends the run at another.
pub async fn a_hook_ends_a_run<H: Host>(host: &H) {
    let stage = Stage::open(host, "hook_ends").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"hook": "skip"}}]},
        {"tool_calls": [
            {"name": "look", "input": {}},
            {"name": "put", "input": {"hook": "terminate"}},
        ]},
        {"text": "Never said."},
    ]});
    // The call before it has ended, and is not left.
    let in_order = AgentSpec {
        parallel_tools: false,
        ..agent()
    };
    let record = stage.submit("run", &script, in_order).await.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Terminated));
    expect("hook_ends", &[record]);
}

/// The events of a run reach the hooks in order, once, and up to the end, also if the run is cancelled.
pub async fn hooks_hear_of_a_run_once<H: Host>(host: &H) {
    let stage = Stage::open(host, "hooks").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {}}, {"name": "write", "input": {}}]},
        {"tool_calls": [{"name": "put", "input": {}}]},
        {"text": "Done."},
    ]});
    let run = stage.submit("run", &script, agent()).await;
    run.ends().await;
    let end = format!("end of {}", run.id);
    stage.world.until_noted(&end).await;
    let start = format!("start of {}", run.id);
    let wanted = [
        &*start,
        "turn 1",
        "model",
        "end of turn 1",
        "turn 2",
        "model",
        "end of turn 2",
        "turn 3",
        "model",
        "end of turn 3",
        &*end,
    ];
    assert_eq!(stage.world.notes(), wanted);

    let script = json!({"turns": [{"tool_calls": [{"name": "look", "input": {}}]}]});
    let mut gate = stage.world.hold("cancelled", 1, 1);
    let cancelled = stage.submit("cancelled", &script, agent()).await;
    gate.reached().await;
    cancelled.cancel("enough").await;
    cancelled.ends().await;
    let (start, end) = (
        format!("start of {}", cancelled.id),
        format!("end of {}", cancelled.id),
    );
    stage.world.until_noted(&end).await;
    let notes = stage.world.notes().split_off(wanted.len());
    assert_eq!(notes, [&*start, "turn 1", "model", &*end]);
}
