//! Questions to a tool about writes whose outcome is unknown.

use std::time::Duration;

use neuron_types::{AgentSpec, FailureKind, RunEvent};
use serde_json::{Value, json};

use super::previews::results;
use crate::{Attempt, Ending, Gate, Host, Record, Run, Session, Stage, World, agent};

/// Returns a write, and an end.
fn script(input: &Value) -> Value {
    json!({"turns": [{"tool_calls": [{"name": "pay", "input": input}]}, {"text": "Done."}]})
}

fn paying() -> AgentSpec {
    let mut agent = agent();
    agent.head_mut().tools.push(World::knowing_tool());
    agent
}

/// Starts two runs that are held in a write: the tool knows the outcome of one, and does not know that of the other.
async fn held<'a, S: Session>(stage: &'a Stage<S>, agent: &AgentSpec) -> Vec<(Gate, Run<'a, S>)> {
    let mut runs = begun(stage, agent).await;
    for (gate, _) in &mut runs {
        gate.reached().await;
    }
    runs
}

/// Starts the same runs, whether or not they have reached the write.
async fn begun<'a, S: Session>(stage: &'a Stage<S>, agent: &AgentSpec) -> Vec<(Gate, Run<'a, S>)> {
    let mut runs = Vec::new();
    for (name, input) in [
        ("known", json!({"outcome": "paid with"})),
        ("unknown", json!({})),
    ] {
        let gate = stage.world.hold(name, 1, 1);
        let run = stage.submit(name, &script(&input), agent.clone()).await;
        runs.push((gate, run));
    }
    runs
}

/// Checks that the model reads the tool's answer as the result of the call, and an unknown outcome for the other one.
fn check(record: &Record) {
    let attempts = record.attempts_at(1, 1);
    // On a slow machine the call's time may be over before it arrives.
    assert!(attempts.len() <= 1, "{attempts:#?}");
    assert!(attempts.iter().all(|attempt| attempt.was(Ending::Dropped)));
    let failure = record.events.iter().find_map(|event| match event {
        RunEvent::ToolFinished { failure, .. } => Some(*failure),
        _ => None,
    });
    let is_known = record.name == "known";
    let expected = (!is_known).then_some(FailureKind::OutcomeUnknown);
    assert_eq!(failure, Some(expected), "{:#?}", record.events);
    if is_known {
        let told = results(record);
        assert!(told[0].starts_with("paid with "), "{told:?}");
        for attempt in attempts {
            let key = attempt.key.as_deref().unwrap();
            assert_eq!(told, [format!("paid with {key}")]);
        }
    }
    assert_eq!(record.output.output.as_deref(), Some("Done."));
}

/// Writes without a result in time: their tool is asked for the outcome, with the key that they had.
pub async fn a_tool_is_asked_for_an_unknown_outcome<H: Host>(host: &H) {
    let stage = Stage::open(host, "inquired").await;
    let agent = AgentSpec {
        tool_timeout: Duration::from_secs(5), // No call of it ends by itself, at any speed.
        ..paying()
    };
    for (gate, run) in begun(&stage, &agent).await {
        let record = run.ends().await;
        drop(gate);
        check(&record);
    }
}

/// The same as [`a_tool_is_asked_for_an_unknown_outcome`], for writes whose worker was killed.
pub async fn a_tool_is_asked_for_the_outcome_of_a_killed_write<H: Host>(host: &H) {
    let stage = Stage::open(host, "inquired_killed").await;
    let runs = held(&stage, &paying()).await;
    stage.kill().await;
    let over = |attempts: &[Attempt]| {
        let all = attempts.iter().all(|attempt| attempt.ended.is_some());
        all.then_some(())
    };
    stage.world.until("end of every attempt", over).await;
    stage.execute().await;
    for (_gate, run) in &runs {
        check(&run.ends().await);
    }
}
