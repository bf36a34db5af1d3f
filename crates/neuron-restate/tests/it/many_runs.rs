//! Many runs at once on one worker.

use std::time::{Duration, Instant};

use neuron_types::{RunPhase, ToolEffects};
use serde_json::{Value, json};

use crate::{
    model::NotedModel,
    stage::{Stage, agent},
    tools::TestTool,
};

#[tokio::test(flavor = "multi_thread")]
async fn fifty_runs_of_ten_turns_complete_beside_each_other() {
    let mut turns: Vec<Value> = (1..10)
        .map(|n| json!({"tool_calls": [{"name": "echo", "input": {"text": n.to_string()}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    let echo = TestTool::echo(ToolEffects::ReadOnly);
    let model = NotedModel::new(&json!({ "turns": turns }));
    let (spec, executor) = agent(&model, &[echo]);
    let stage = Stage::set("many").await;
    let _worker = stage.worker(&executor).await;
    let start = Instant::now();
    let names: Vec<String> = (0..50).map(|n| format!("many-{n:02}")).collect();
    let runs = names.iter().map(|name| stage.run(name, &spec));
    for output in futures::future::join_all(runs).await {
        assert_eq!(output.state, RunPhase::Completed, "{output:?}");
        assert_eq!(output.turns, 10);
    }
    let took = start.elapsed();
    println!("50 runs of 10 turns: {took:?}");
    assert_eq!(model.count(), 500);
    assert!(took < Duration::from_secs(60), "{took:?}");

    let page = stage.client.list(20).await.unwrap();
    assert_eq!((page.runs.len(), page.total), (20, 50));
    assert!(
        page.runs
            .windows(2)
            .all(|two| two[0].started_at >= two[1].started_at)
    );
}
