//! Cancelling.

use std::{collections::BTreeMap, time::Duration};

use neuron_types::{AgentSpec, ExitReason, Placement, ToolSettings};
use serde_json::{Value, json};

use crate::{Ending, Host, Record, Run, Session, Stage, agent, expect};

/// Returns an agent whose calls do not end by themselves within a test.
fn patient() -> AgentSpec {
    const A_DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.
    AgentSpec {
        model_timeout: A_DAY,
        tool_timeout: A_DAY,
        ..agent()
    }
}

/// Cancels a run that would outlast the test. So its end is that of the cancellation.
async fn cancelled<S: Session>(run: Run<'_, S>) -> Record {
    run.cancel("enough").await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Cancelled));
    let error = record.output.error.as_ref().unwrap();
    assert_eq!(error.message, "enough");
    record
}

fn last_was_dropped(record: &Record) {
    let last = record.attempts.last().unwrap();
    assert!(last.was(Ending::Dropped), "{:#?}", record.attempts);
}

/// Runs that are cancelled in their second model call, which is never released.
pub async fn cancelling_ends_a_hanging_model_call<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_model").await;
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [{"name": "look", "input": {}}]},
        {"text": "Never said."},
    ]});
    let mut records = Vec::new();
    for (name, placement) in [("run", Placement::Activity), ("beside", Placement::Local)] {
        let mut agent = patient();
        agent.activity.placement = Some(placement);
        let mut gate = stage.world.hold(name, 2, 0);
        let run = stage.submit(name, &script, agent).await;
        gate.reached().await;
        let record = cancelled(run).await;
        last_was_dropped(&record);
        drop(gate);
        records.push(record);
    }
    assert_eq!(records[0].course(), records[1].course());
    expect("cancelled_model", &records[..1]);
}

/// Runs that are cancelled in a call that is never released, with another one answered before and one to come.
pub async fn cancelling_ends_a_hanging_tool_call<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_tool").await;
    let mut records = Vec::new();
    for (name, tool, placement) in [
        ("read", "look", Placement::Activity),
        ("quick-read", "look", Placement::Local),
        ("write", "write", Placement::Activity),
    ] {
        let script = json!({"turns": [{"tool_calls": [
            {"name": "put", "input": {}},
            {"name": tool, "input": {}},
            {"name": "put", "input": {}},
        ]}]});
        let mut settings = ToolSettings::default();
        settings.activity.placement = Some(placement);
        let agent = AgentSpec {
            parallel_tools: false,
            tool_settings: BTreeMap::from([(tool.to_owned(), settings)]),
            ..patient()
        };
        let mut gate = stage.world.hold(name, 1, 2);
        let run = stage.submit(name, &script, agent).await;
        gate.reached().await;
        let record = cancelled(run).await;
        last_was_dropped(&record);
        drop(gate);
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
        {"kind": "rate_limited", "retry_after_ms": 43_200_000, "message": "later"}, // Nothing ends by it.
    ]}]});
    let mut agent = agent();
    agent.approvals.approve = vec!["write".into()];

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
