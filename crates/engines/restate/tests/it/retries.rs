//! Failed attempts, counted across the loss of workers.

use std::{sync::Arc, time::Duration};

use neuron_executor::EventSink;
use neuron_harness::until;
use neuron_testing::{Moment, NotedModel, Turnstile, Watcher, noted_agent};
use neuron_types::{FailureKind, RetryPolicy, RunPhase};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn workers_lost_between_attempts_change_neither_their_number_nor_their_delays() {
    const ATTEMPTS: usize = 4;
    const DELAY: Duration = Duration::from_millis(800); // Not earlier, at any speed.
    // The part of a delay without jitter is checked.
    let asked = u64::try_from(DELAY.as_millis()).unwrap();
    let fail = json!({"kind": "overloaded", "message": "no capacity", "retry_after_ms": asked});
    let script = json!({"turns": [{"text": "Done.", "fail": vec![fail; 2 * ATTEMPTS]}]});
    let turnstile = Turnstile::default();
    let model = NotedModel::new(&script).behind(&turnstile);
    // Each worker makes one attempt: if the test ends it late, the next attempt is held.
    let one = Moment::InCall { after: 1 };
    turnstile.close_for(one);
    let (mut spec, executor) = noted_agent(&model, &[]);
    spec.model_retry = Some(RetryPolicy {
        maximum_attempts: ATTEMPTS as u32,
        initial_interval: DELAY / 10,
        backoff_coefficient: 1.0,
        ..RetryPolicy::default()
    });
    let watcher = Arc::new(Watcher::default());
    let stage = Stage::set("retries").await;
    let worker = async || {
        let sink = Arc::clone(&watcher) as Arc<dyn EventSink>;
        stage
            .worker_with(&executor, |services| services.with_sink(sink))
            .await
    };
    let mut current = worker().await;
    let run = stage.start("retried", &spec).await;
    for failed in 1..ATTEMPTS {
        // A failed attempt is reported when it is journaled.
        until(async || (watcher.retries().len() == failed).then_some(())).await;
        drop(current);
        turnstile.emptied().await;
        model.calls.lock().unwrap().truncate(failed);
        turnstile.close_for(one);
        current = worker().await;
    }
    turnstile.open();
    let output = stage.wait(&run).await;
    assert_eq!(output.state, RunPhase::Failed);
    assert_eq!(output.error.unwrap().kind, FailureKind::Overloaded);
    let calls = model.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), ATTEMPTS);
    let delays: Vec<Duration> = calls.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(delays.iter().all(|delay| *delay >= DELAY), "{delays:?}");
    let attempts: Vec<u32> = watcher.retries().iter().map(|it| it.attempt).collect();
    assert_eq!(attempts, [1, 2, 3]);
    drop(current);
}
