//! The status of a run.

use neuron_types::{RunPhase, Verdict};
use serde_json::json;

use crate::{Host, Stage, agent, decision, stages::record::expect_text};

/// The status in a model call, while a person is asked, in a tool call and at the end.
pub async fn the_status_tells_where_a_run_stands<H: Host>(host: &H) {
    let stage = Stage::open(host, "status").await;
    let usage = json!({"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 5});
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [{"name": "look", "input": {}}], "usage": usage, "cost_usd": "0.25"},
        {"text": "May I?", "tool_calls": [{"name": "write", "input": {}}], "usage": usage, "cost_usd": "0.25"},
        {"text": "Done.", "usage": usage, "cost_usd": "0.25"},
    ]});
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];
    let mut in_model = stage.world.hold("run", 2, 0);
    let mut in_write = stage.world.hold("run", 2, 1);
    let run = stage.submit("run", &script, agent).await;

    in_model.reached().await;
    let is_second = |status: &neuron_types::RunStatus| status.turn == 2;
    run.reaches(RunPhase::Running, is_second).await;
    let mut statuses = vec![run.status().await];
    in_model.release();
    let ticket = run.waits_for(1).await.remove(0);
    statuses.push(run.status().await);
    run.decide(&decision(&ticket, Verdict::Approve)).await;
    in_write.reached().await;
    run.reaches(RunPhase::Running, is_second).await;
    statuses.push(run.status().await);
    in_write.release();
    run.ends().await;
    statuses.push(run.status().await);
    let lines = statuses.iter().map(|status| format!("{status}\n"));
    expect_text("status", &lines.collect::<String>());
}
