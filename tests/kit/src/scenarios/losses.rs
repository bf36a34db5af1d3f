//! Steps that end their worker, every time.

use std::time::Duration;

use neuron_types::{AgentSpec, FailureKind, RunEvent};
use serde_json::json;

use crate::{Attempt, Ending, Host, Stage, agent};

/// A step is given up after this many workers in a row.
const MOST: usize = 10;

/// Longer than any worker lives here.
const FOR_EVER_MS: u64 = 24 * 60 * 60 * 1_000;

/// A read and a model call whose worker is killed each time: they are not made forever. The model reads the outcome of
/// the read, and the run of the model call fails.
pub async fn a_step_that_ends_every_worker_is_given_up<H: Host>(host: &H) {
    if !H::COUNTS_LOST_WORKERS {
        return;
    }
    let stage = Stage::open(host, "worker_lost").await;
    let mut agent = agent();
    agent.retry.initial_interval = Duration::from_millis(20); // Only so that it does not take long.
    agent.retry.maximum_interval = Duration::from_millis(50); // Only so that it does not take long.
    agent.activity.heartbeat_timeout = Some(Duration::from_millis(500)); // How soon a lost worker is noticed.
    let agent = AgentSpec {
        tool_timeout: Duration::from_millis(2 * FOR_EVER_MS), // Nothing ends by it.
        model_timeout: Duration::from_millis(2 * FOR_EVER_MS), // Nothing ends by it.
        ..agent
    };
    let script = json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {"takes_ms": FOR_EVER_MS}}]},
        {"text": "It cannot be read."},
    ]});
    let in_read = stage.submit("in-read", &script, agent.clone()).await;
    let script = json!({"turns": [{"text": "Never said.", "delay_ms": FOR_EVER_MS}]});
    let in_model = stage.submit("in-model", &script, agent).await;

    let steps = [("in-read", 1, 1), ("in-model", 1, 0)];
    let mut are_all_made = false;
    while !are_all_made {
        let under_way = |attempts: &[Attempt]| {
            let mut all_made = true;
            for (run, turn, position) in steps {
                let of_step = attempts.iter().filter(|it| it.is_at(run, turn, position));
                let is_made = of_step.clone().count() >= MOST;
                let is_open = of_step.clone().any(|attempt| attempt.ended.is_none());
                if !is_open && !is_made {
                    return None;
                }
                all_made &= is_made;
            }
            Some(all_made)
        };
        are_all_made = stage.world.until("attempts at both steps", under_way).await;
        stage.kill().await;
        let over = |attempts: &[Attempt]| {
            let all = attempts.iter().all(|attempt| attempt.ended.is_some());
            all.then_some(())
        };
        stage.world.until("end of every attempt", over).await;
        stage.execute().await;
    }

    let record = in_read.ends().await;
    let attempts = record.attempts_at(1, 1);
    assert_eq!(attempts.len(), MOST, "{attempts:#?}");
    assert!(attempts.iter().all(|attempt| attempt.was(Ending::Dropped)));
    let failure = record.events.iter().find_map(|event| match event {
        RunEvent::ToolFinished { failure, .. } => *failure,
        _ => None,
    });
    assert_eq!(failure, Some(FailureKind::WorkerLost));
    let output = record.output.output.as_deref();
    assert_eq!(output, Some("It cannot be read."), "{record:#?}");

    let record = in_model.ends().await;
    assert_eq!(record.attempts_at(1, 0).len(), MOST);
    let error = record.output.error.as_ref().unwrap();
    assert_eq!(error.kind, FailureKind::WorkerLost, "{error:?}");
}
