//! Cancelling.

use std::time::{Duration, Instant};

use neuron_types::{AgentSpec, ExitReason};
use serde_json::{Value, json};

use crate::{Ending, Host, Record, Run, Session, Stage, agent, expect};

/// How long it may take until nothing of a cancelled run goes on.
const PROMPT: Duration = Duration::from_secs(5);

async fn cancelled<S: Session>(run: Run<'_, S>) -> Record {
    let since = Instant::now();
    run.cancel("enough").await;
    let record = run.ends().await;
    let took = since.elapsed();
    assert!(took < PROMPT, "cancelling took {took:?}");
    assert_eq!(record.output.exit_reason, Some(ExitReason::Cancelled));
    let error = record.output.error.as_ref().unwrap();
    assert_eq!(error.message, "enough");
    record
}

fn last_was_dropped(record: &Record) {
    let last = record.attempts.last().unwrap();
    assert!(last.was(Ending::Dropped), "{:#?}", record.attempts);
}

/// A run that is cancelled in its second model call, which hangs.
pub async fn cancelling_ends_a_hanging_model_call<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_model").await;
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [{"name": "look", "input": {}}]},
        {"text": "Never said."},
    ]});
    let mut gate = stage.world.hold("run", 2, 0);
    let run = stage.submit("run", &script, agent()).await;
    gate.reached().await;
    let record = cancelled(run).await;
    last_was_dropped(&record);
    expect("cancelled_model", &[record]);
}

/// Runs that are cancelled in a call that hangs, with another answered before and one to come.
pub async fn cancelling_ends_a_hanging_tool_call<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_tool").await;
    let mut records = Vec::new();
    for (name, tool, timeout) in [
        ("read", "look", 60),
        ("quick-read", "look", 5),
        ("write", "write", 60),
    ] {
        let script = json!({"turns": [{"tool_calls": [
            {"name": "put", "input": {}},
            {"name": tool, "input": {}},
            {"name": "put", "input": {}},
        ]}]});
        let agent = AgentSpec {
            parallel_tools: false,
            tool_timeout: Duration::from_secs(timeout),
            ..agent()
        };
        let mut gate = stage.world.hold(name, 1, 2);
        let run = stage.submit(name, &script, agent).await;
        gate.reached().await;
        let record = cancelled(run).await;
        last_was_dropped(&record);
        assert_eq!(record.attempts.len(), 3, "{:#?}", record.attempts);
        records.push(record);
    }
    expect("cancelled_tool", &records);
}

/// Runs that are cancelled while they wait for a person, and between two attempts.
pub async fn cancelling_ends_a_wait<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_wait").await;
    let asking = json!({"turns": [{"tool_calls": [{"name": "write", "input": {}}]}]});
    let failing: Value = json!({"turns": [{"text": "Never said.", "fail": [
        {"kind": "rate_limited", "retry_after_ms": 600_000, "message": "come back later"},
    ]}]});
    let mut agent = agent();
    agent.approvals.approve = vec!["write".to_owned()];

    let run = stage.submit("for-a-person", &asking, agent.clone()).await;
    run.waits_for(1).await;
    let waited = cancelled(run).await;

    let run = stage.submit("for-an-attempt", &failing, agent).await;
    let failed = |attempts: &[crate::Attempt]| {
        let mut attempts = attempts.iter();
        attempts
            .find(|attempt| attempt.was(Ending::Failed))
            .map(drop)
    };
    stage.world.until("failed attempt", failed).await;
    let delayed = cancelled(run).await;
    assert_eq!(delayed.attempts.len(), 1);
    expect("cancelled_wait", &[waited, delayed]);
}
