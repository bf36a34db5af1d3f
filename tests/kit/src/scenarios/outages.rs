//! A provider that is away: the run waits for it, until the agent gives up.

use std::time::Duration;

use neuron_types::{AgentSpec, FailureKind, Placement};
use serde_json::{Value, json};

use crate::{Ending, Host, Stage, agent};

/// Returns an agent with short delays.
fn hasty() -> AgentSpec {
    let mut agent = agent();
    agent.retry.initial_interval = Duration::from_millis(20); // Only so that it does not take long.
    agent.retry.maximum_interval = Duration::from_millis(100); // Only so that it does not take long.
    agent
}

fn failing(attempts: usize) -> Value {
    let kinds = ["network", "overloaded"].iter().cycle().take(attempts);
    let fail = kinds.map(|kind| json!({"kind": kind, "message": "the provider is away"}));
    json!({"turns": [{"text": "Back again.", "fail": fail.collect::<Vec<_>>()}]})
}

/// Many more attempts than a tool call has, also if the first is made locally.
pub async fn an_outage_of_the_model_is_waited_out<H: Host>(host: &H) {
    let stage = Stage::open(host, "outage").await;
    for (name, placement) in [("run", None), ("beside", Some(Placement::Local))] {
        let mut agent = hasty();
        agent.activity.placement = placement;
        let record = stage.submit(name, &failing(12), agent).await.ends().await;
        let output = record.output.output.as_deref();
        assert_eq!(output, Some("Back again."), "{record:#?}");
        assert_eq!(record.attempts_at(1, 0).len(), 13);
    }
}

/// The step has the last failure, and not another one of the engine.
pub async fn an_outage_that_lasts_too_long_ends_the_run<H: Host>(host: &H) {
    let stage = Stage::open(host, "given_up").await;
    let agent = AgentSpec {
        give_up_after: Some(Duration::from_secs(2)), // Ends the run the same, after however many attempts.
        ..hasty()
    };
    let script = json!({"turns": [{"text": "Never said.", "fail": vec![
        json!({"kind": "overloaded", "status": 529, "message": "no capacity"});
        5_000
    ]}]});
    let record = stage.submit("run", &script, agent).await.ends().await;
    let error = record.output.error.as_ref().unwrap();
    assert_eq!(error.kind, FailureKind::Overloaded, "{error:?}");
    assert!(error.message.contains("no capacity"), "{error:?}");
    // The number of attempts until then depends on the machine.
    let attempts = record.attempts_at(1, 0);
    assert!(!attempts.is_empty() && attempts.iter().all(|attempt| attempt.was(Ending::Failed)));
}
