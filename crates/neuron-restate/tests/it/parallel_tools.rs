//! Several calls in one turn.

use std::time::{Duration, Instant};

use neuron_types::{ToolEffects, ToolOutput};
use serde_json::json;

use crate::{
    model::NotedModel,
    stage::{Stage, agent},
    tools::TestTool,
};

#[tokio::test(flavor = "multi_thread")]
async fn five_calls_of_one_second_take_less_than_two() {
    let calls: Vec<_> = (0..5)
        .map(|n| json!({"name": "slow", "input": {"n": n}}))
        .collect();
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let slow = TestTool::new("slow", ToolEffects::ReadOnly, |input| async move {
        // The first asked for is the last to finish.
        let n = input["n"].as_u64().unwrap_or_default();
        tokio::time::sleep(Duration::from_millis(1_000 - 10 * n)).await;
        Ok(ToolOutput::text(n.to_string()))
    });
    let model = NotedModel::new(&script);
    let (spec, executor) = agent(&model, &[slow]);
    let stage = Stage::set("parallel").await;
    let _worker = stage.worker(&executor).await;
    let start = Instant::now();
    stage.run("five", &spec).await;
    let took = start.elapsed();
    println!("five calls of 1 s: {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    let seen = model.last_message();
    for n in 0..5 {
        let text = &seen["content"][n]["tool_result"]["content"][0]["text"];
        assert_eq!(*text, n.to_string(), "{seen}");
    }
}
