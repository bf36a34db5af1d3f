//! Writes: one attempt each.

use std::time::Duration;

use futures::future::join_all;
use neuron_types::{AgentSpec, OnUnknownOutcome, Verdict};
use serde_json::json;

use crate::{Ending, Host, Stage, agent, decision, expect};

/// Writes that are unavailable, time out by themselves, and have no result in time.
pub async fn a_write_is_not_repeated<H: Host>(host: &H) {
    let stage = Stage::open(host, "writes").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "write", "input": {"fail": [{"with": "unavailable", "retry_after_ms": 10}]}},
            {"name": "write", "input": {"fail": [{"with": "timeout"}]}},
            {"name": "write", "input": {"text": "written"}},
        ]},
        {"text": "Done."},
    ]});
    let record = stage.submit("run", &script, agent()).await.ends().await;
    assert_eq!(record.attempts.len(), 5);
    expect("writes", &[record]);
}

/// A write whose outcome is unknown: approved it is made again, with the same key; denied it is not.
pub async fn a_person_is_asked_about_an_unknown_outcome<H: Host>(host: &H) {
    let stage = Stage::open(host, "unknown_outcome").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "written"}}]},
        {"text": "Done."},
    ]});
    let verdicts = [("approved", Verdict::Approve), ("denied", Verdict::Deny)];
    let records = verdicts.map(|(name, verdict)| {
        let (stage, script) = (&stage, &script);
        async move {
            let agent = AgentSpec {
                on_unknown_outcome: OnUnknownOutcome::AskPerson,
                tool_timeout: Duration::from_secs(5),
                ..agent()
            };
            let gate = stage.world.hold(name, 1, 1);
            let run = stage.submit(name, script, agent).await;
            let ticket = run.waits_for(1).await.remove(0);
            drop(gate);
            run.decide(&decision(&ticket, verdict)).await;
            run.ends().await
        }
    });
    let records = join_all(records).await;
    let approved = records[0].attempts_at(1, 1);
    assert_eq!(approved.len(), 2);
    assert!(approved[0].was(Ending::Dropped) && approved[1].was(Ending::Answered));
    assert_eq!(approved[0].key, approved[1].key);
    assert_eq!(records[1].attempts_at(1, 1).len(), 1);
    expect("unknown_outcome", &records);
}
