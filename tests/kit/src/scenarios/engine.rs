//! Kills of the engine.

use futures::future::join_all;
use neuron_types::ToolEffects;
use serde_json::json;

use crate::{Host, Session as _, Stage, agent};

/// Runs that are held in a model call, in calls of each kind, and by a ticket, while the engine dies and is started
/// again.
pub async fn the_engine_is_killed_in_a_step<H: Host>(host: &H) {
    let stage = Stage::open(host, "engine_killed").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {"text": "seen"}}]},
        {"tool_calls": [{"name": "write", "input": {"text": "written"}}]},
        {"text": "All done."},
    ]});
    let undisturbed = stage.submit("undisturbed", &script, agent()).await;
    let undisturbed = undisturbed.ends().await;
    let steps = [(1, 1), (2, 0), (2, 1), (3, 0)];
    let held = steps.map(|(turn, position)| {
        let (stage, script) = (&stage, &script);
        async move {
            let name = format!("in-{turn}-{position}");
            let mut gate = stage.world.hold(&name, turn, position);
            let run = stage.submit(&name, script, agent()).await;
            gate.reached().await;
            (gate, run)
        }
    });
    let held = join_all(held).await;
    let restarted = stage.session.restart_engine().await;
    restarted.unwrap_or_else(|error| panic!("the engine restarts: {error}"));
    let runs = held.into_iter().map(|(gate, run)| {
        gate.release();
        run
    });
    let runs: Vec<_> = runs.collect();
    let records = join_all(runs.iter().map(|run| run.ends())).await;
    for (record, step) in records.iter().zip(steps) {
        assert_eq!(record.output.output, undisturbed.output.output);
        for (turn, position) in steps {
            let attempts = record.attempts_at(turn, position);
            let once = attempts[0].effects == ToolEffects::Write || (turn, position) != step;
            assert!(!once || attempts.len() == 1, "{attempts:#?}");
        }
    }
}
