//! A run of a hundred turns.

use std::time::Instant;

use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{AgentSpec, Limits, ToolEffects, ToolOutput};
use serde_json::{Value, json};

use crate::stage::Stage;

const TURNS: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_grows_with_the_conversation_and_not_with_its_square() {
    let mut turns: Vec<Value> = (1..TURNS)
        .map(|_| json!({"tool_calls": [{"name": "read", "input": {}}]}))
        .collect();
    turns.push(json!({"text": "Done."}));
    let read = NotedTool::new("read", ToolEffects::ReadOnly, |_| async {
        Ok(ToolOutput::text("x".repeat(4096)))
    });
    let (spec, executor) = noted_agent(&NotedModel::new(&json!({ "turns": turns })), &[read]);
    let spec = AgentSpec {
        limits: Limits {
            turns: None,
            tool_calls: None,
            ..Limits::default()
        },
        ..spec
    };
    let stage = Stage::set("long").await;
    let _worker = stage.worker(&executor).await;
    let start = Instant::now();
    let run = stage.start("long", &spec).await;
    let output = stage.wait_at_length(&run).await;
    let took = start.elapsed();
    assert_eq!(output.turns, TURNS as u32);
    let rows = stage
        .query(
            "SELECT SUM(j.raw_length) AS bytes, COUNT(*) AS entries FROM sys_journal j \
             JOIN sys_invocation i ON i.id = j.id WHERE i.target = 'long/long/run'",
        )
        .await;
    println!("{TURNS} turns: {took:?}, journal {rows:?}");
    let bytes = rows[0]["bytes"].as_u64().unwrap();
    assert!(bytes < 1_200_000, "{bytes}");
    assert!(bytes > 400_000, "the results are in the journal: {bytes}");
}
