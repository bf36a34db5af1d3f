//! A history grows with the conversation.

use neuron_types::{AgentSpec, Limits, ToolEffects};
use serde_json::{Value, json};

use crate::{
    model::NotedModel,
    stage::{Stage, agent, until},
    tools::TestTool,
};

const TURNS: usize = 100;
const LIMIT: usize = 1_200_000;

fn script() -> Value {
    let mut turns: Vec<_> = (1..TURNS)
        .map(|n| json!({"tool_calls": [{"name": "read", "input": {"n": n}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    json!({ "turns": turns })
}

fn read() -> TestTool {
    TestTool::new("read", ToolEffects::ReadOnly, |_| async {
        Ok(neuron_types::ToolOutput::text("x".repeat(4_096)))
    })
}

fn spec(spec: &AgentSpec) -> AgentSpec {
    AgentSpec {
        limits: Limits {
            turns: None,
            ..Limits::default()
        },
        ..spec.clone()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_turns_of_four_kilobytes_stay_under_one_point_two_megabytes() {
    let stage = Stage::set().await;
    for (run, cache) in [("cached", 64 << 20), ("uncached", 0)] {
        let (agent_spec, executor) = agent(&NotedModel::new(&script()), &[read()]);
        let worker = stage.worker_with(&executor, move |builder| {
            builder.transcript_cache_bytes(cache)
        });
        let start = std::time::Instant::now();
        let output = stage.run(run, &spec(&agent_spec)).await;
        let took = start.elapsed();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let (bytes, events) = stage.history(&output.run_id).await;
        println!("{run}: {bytes} bytes, {events} events, {took:?}");
        assert!(bytes < LIMIT, "{bytes} bytes");
        if cache > 0 {
            stage.replays(&output.run_id).await;
        }
        drop(worker);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_that_take_turns_know_the_conversation() {
    let stage = Stage::set().await;
    let model = NotedModel::new(&script());
    let (agent_spec, executor) = agent(&model, &[read()]);
    let run = stage.start("in-turns", &spec(&agent_spec)).await;
    for part in 1..=4 {
        let enough = part * TURNS / 5;
        let _worker = stage.worker(&executor);
        until(async || (model.count() >= enough).then_some(())).await;
    }
    let _both = (stage.worker(&executor), stage.worker(&executor));
    let output = stage.client.wait(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let (bytes, _) = stage.history(&run).await;
    assert!(bytes < LIMIT, "{bytes} bytes");
}
