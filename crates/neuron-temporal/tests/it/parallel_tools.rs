//! Several calls in one turn.

use std::time::{Duration, Instant};

use neuron_types::{AgentSpec, ToolEffects, ToolOutput};
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
    let (spec, executor) = agent(&NotedModel::new(&script), &[slow]);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    stage.run("warm-up", &spec).await;
    for (run, tool_timeout) in [("normal", 60), ("placed", 5)] {
        let spec = AgentSpec {
            tool_timeout: Duration::from_secs(tool_timeout),
            ..spec.clone()
        };
        let start = Instant::now();
        let output = stage.run(run, &spec).await;
        let took = start.elapsed();
        println!("five calls of 1 s ({run}): {took:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
        let transcript = stage.client.transcript(&output.run_id).await.unwrap();
        let results = serde_json::to_value(&transcript[2].content).unwrap();
        for n in 0..5 {
            let text = &results[n]["tool_result"]["content"][0]["text"];
            assert_eq!(*text, n.to_string(), "{results}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_does_not_wait_for_the_quick_reads_beside_it() {
    let calls = ["read", "write", "read"].map(|name| json!({"name": name, "input": {}}));
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    let tool = |name, effects| {
        TestTool::new(name, effects, |_| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(ToolOutput::text("done"))
        })
    };
    let tools = [
        tool("read", ToolEffects::ReadOnly),
        tool("write", ToolEffects::Write),
    ];
    let (mut spec, executor) = agent(&NotedModel::new(&script), &tools);
    spec.tool_timeout = Duration::from_secs(5);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    stage.run("warm-up", &spec).await;
    let start = Instant::now();
    let output = stage.run("mixed", &spec).await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    stage.replays(&output.run_id).await;
}
