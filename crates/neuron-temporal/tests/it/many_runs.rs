//! Many runs at once on one worker.

use std::time::{Duration, Instant};

use futures::future::join_all;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{RunPhase, ToolEffects};
use serde_json::json;

use crate::stage::Stage;

const RUNS: usize = 200;
const TURNS: usize = 10;

/// What a busy machine without optimised code may take.
const DEADLINE: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_runs_of_ten_turns_complete_beside_each_other() {
    let mut turns: Vec<_> = (1..TURNS)
        .map(|n| json!({"tool_calls": [{"name": "echo", "input": {"text": n.to_string()}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    let model = NotedModel::new(&json!({ "turns": turns }));
    let echo = NotedTool::echo(ToolEffects::Write);
    let (spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let start = Instant::now();
    let runs = (0..RUNS).map(|n| {
        let (stage, spec) = (&stage, &spec);
        async move {
            let run = stage.start(&format!("run-{n}"), spec).await;
            stage.client.wait(&run).await.unwrap()
        }
    });
    let outputs = tokio::time::timeout(DEADLINE, join_all(runs)).await;
    let outputs = outputs.unwrap_or_else(|_| panic!("{} model calls in time", model.count()));
    println!("{RUNS} runs of {TURNS} turns: {:?}", start.elapsed());
    for output in outputs {
        assert_eq!(output.state, RunPhase::Completed, "{output:?}");
        assert_eq!(output.turns as usize, TURNS);
    }
    assert_eq!(model.count(), RUNS * TURNS);
    let mut keys = echo.keys();
    keys.dedup();
    assert_eq!(keys.len(), RUNS * (TURNS - 1), "no write is made twice");
}
