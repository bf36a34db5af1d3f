//! A script of failures gives the same attempts, delays and end here and on Temporal.

use std::time::{Duration, Instant};

use neuron_types::{RetryPolicy, ToolEffects, ToolError};
use serde_json::{Value, json};

use crate::{
    model::NotedModel,
    same_as_local::locally,
    stage::{Stage, agent},
    tools::TestTool,
};

fn failures(last: &str) -> Value {
    json!({"turns": [{"text": "Done.", "fail": [
        {"kind": "rate_limited", "status": 429, "retry_after_ms": 1_500, "message": "slow down"},
        {"kind": "overloaded", "status": 529, "message": "no capacity"},
        {"kind": last, "message": "last"},
    ]}]})
}

fn delays(model: &NotedModel) -> Vec<Duration> {
    let calls = model.calls.lock().unwrap().clone();
    calls
        .windows(2)
        .map(|pair: &[Instant]| pair[1] - pair[0])
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_delays_and_end_are_those_of_a_local_run() {
    let stage = Stage::set().await;
    for last in ["network", "authentication"] {
        let script = failures(last);
        let policy = RetryPolicy {
            initial_interval: Duration::from_millis(600),
            ..RetryPolicy::default()
        };
        let (local, remote) = (NotedModel::new(&script), NotedModel::new(&script));
        let (mut spec, executor) = agent(&local, &[]);
        spec.retry = policy;
        let (local_output, _) = locally(&spec, &executor).await;

        let (_, executor) = agent(&remote, &[]);
        let _worker = stage.worker(&executor);
        let output = stage.run(last, &spec).await;
        assert_eq!(output.state, local_output.state);
        assert_eq!(output.error, local_output.error);
        assert_eq!(output.output, local_output.output);

        let (wanted, found) = (delays(&local), delays(&remote));
        println!("{last}: local {wanted:?}, temporal {found:?}");
        assert_eq!(wanted.len(), found.len());
        for (wanted, found) in wanted.iter().zip(&found) {
            let difference = wanted.abs_diff(*found);
            assert!(difference < *wanted / 5, "{wanted:?} and {found:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quick_call_that_fails_for_good_fails_as_it_does_locally() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "gone", "input": {}}, {"name": "wrong", "input": {}}]},
        {"text": "Never said."},
    ]});
    let tools = [
        TestTool::new("gone", ToolEffects::ReadOnly, |_| async {
            Err(ToolError::Timeout(Duration::from_secs(1)))
        }),
        TestTool::new("wrong", ToolEffects::Idempotent, |_| async {
            Err(ToolError::InvalidInput("no such account".into()))
        }),
    ];
    let (mut spec, executor) = agent(&NotedModel::new(&script), &tools);
    spec.tool_timeout = Duration::from_secs(5);
    spec.retry.maximum_attempts = 2;
    spec.retry.initial_interval = Duration::from_millis(50);
    let (local, local_events) = locally(&spec, &executor).await;

    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let output = stage.run("quick", &spec).await;
    assert_eq!(output.error, local.error);
    let recorded = stage.client.events(&output.run_id).await.unwrap();
    let events: Vec<_> = recorded.iter().map(|event| event.event.clone()).collect();
    assert_eq!(events, local_events);
    assert_eq!(tools[0].keys().len(), 2 + 2);
    stage.replays(&output.run_id).await;
}
