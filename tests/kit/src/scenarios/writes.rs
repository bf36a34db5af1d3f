//! Writes: one attempt each.

use futures::future::join_all;
use neuron_types::{AgentSpec, Decision, OnUnknownOutcome, Verdict};
use serde_json::json;

use crate::{Ending, Host, Stage, agent, decision, expect};

/// Writes that are unavailable, time out by themselves, and have no result in time.
pub async fn a_write_is_not_repeated<H: Host>(host: &H) {
    let stage = Stage::open(host, "writes").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "write", "input": {"fail": [{"with": "unavailable"}]}},
            {"name": "write", "input": {"fail": [{"with": "timeout"}]}},
            {"name": "write", "input": {"text": "written"}},
        ]},
        {"text": "Done."},
    ]});
    let record = stage.submit("run", &script, agent()).await.ends().await;
    assert_eq!(record.attempts.len(), 5);
    expect("writes", &[record]);
}

/// A write whose outcome is unknown: it is made again with the same key if a person chooses that, and not if the person
/// knows the outcome. A choice that is not offered is rejected.
pub async fn a_person_is_asked_about_an_unknown_outcome<H: Host>(host: &H) {
    let stage = Stage::open(host, "unknown_outcome").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "write", "input": {"text": "written", "fail": [{"with": "timeout"}]}},
        ]},
        {"text": "Done."},
    ]});
    let choices = [
        ("again", "retry"),
        ("happened", "happened:{\"id\": 7}"),
        ("ended", "end"),
    ];
    let records = choices.map(|(name, choice)| {
        let (stage, script) = (&stage, &script);
        async move {
            let agent = AgentSpec {
                on_unknown_outcome: OnUnknownOutcome::AskPerson,
                ..agent()
            };
            let run = stage.submit(name, script, agent).await;
            let ticket = run.waits_for(1).await.remove(0);
            let choose = |choice: &str| Decision {
                choice: Some(choice.to_owned()),
                ..decision(&ticket, Verdict::Choose)
            };
            run.decide_wrongly(&choose("perhaps")).await;
            run.waits_for(1).await;
            run.decide(&choose(choice)).await;
            run.ends().await.without_refusals()
        }
    });
    let records = join_all(records).await;
    let again = records[0].attempts_at(1, 1);
    assert_eq!(again.len(), 2);
    assert!(again[0].was(Ending::Failed) && again[1].was(Ending::Answered));
    assert_eq!(again[0].key, again[1].key);
    for other in &records[1..] {
        assert_eq!(other.attempts_at(1, 1).len(), 1);
    }
    expect("unknown_outcome", &records);
}
