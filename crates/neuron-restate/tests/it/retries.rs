//! A script of failures gives the same attempts, delays and end here and on Restate.

use std::time::{Duration, Instant};

use neuron_types::RetryPolicy;
use serde_json::{Value, json};

use crate::{
    model::NotedModel,
    same_as_local::locally,
    stage::{Stage, agent},
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

async fn compare(last: &str) {
    let script = failures(last);
    let policy = RetryPolicy {
        initial_interval: Duration::from_millis(600),
        ..RetryPolicy::default()
    };
    let (local, remote) = (NotedModel::new(&script), NotedModel::new(&script));
    let (mut spec, executor) = agent(&local, &[]);
    spec.retry = policy;
    let (local_output, local_events) = locally(&spec, &executor).await;

    let stage = Stage::set(&format!("retries-{last}")).await;
    let (_, executor) = agent(&remote, &[]);
    let _worker = stage.worker(&executor).await;
    let output = stage.run(last, &spec).await;
    assert_eq!(output.state, local_output.state);
    assert_eq!(output.error, local_output.error);
    assert_eq!(output.output, local_output.output);
    assert_eq!(stage.events(&output.run_id).await, local_events);

    let (wanted, found) = (delays(&local), delays(&remote));
    println!("{last}: local {wanted:?}, restate {found:?}");
    assert_eq!(wanted.len(), found.len());
    for (wanted, found) in wanted.iter().zip(&found) {
        let difference = wanted.abs_diff(*found);
        assert!(difference < *wanted / 5, "{wanted:?} and {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_and_delays_are_those_of_a_local_run() {
    compare("network").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_for_good_ends_the_run_as_it_ends_a_local_one() {
    compare("authentication").await;
}
