//! The changes of a caller to the agent of a run.

use neuron_types::{
    AgentSpec, ExitReason, FailureKind, LimitOverrides, Message, RunEvent, RunRequest,
};
use serde_json::json;

use crate::{Host, Stage, agent};

fn named(name: &str) -> AgentSpec {
    let mut agent = agent();
    agent.name = name.to_owned();
    name.clone_into(&mut agent.head_mut().model);
    agent
}

fn turns(turns: u32) -> LimitOverrides {
    LimitOverrides {
        turns: Some(turns),
        ..LimitOverrides::default()
    }
}

/// A caller lowers limits, removes tools and denies calls. A change that would let the run do more than its agent fails
/// the run before its first step.
pub async fn a_caller_narrows_an_agent_and_does_not_widen_it<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "narrowed").await;
    stage.world.define(named("narrowed"));
    stage.world.define(named("widened"));
    stage.execute().await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {}},
            {"name": "put", "input": {}},
            {"name": "write", "input": {}},
        ]},
        {"tool_calls": [{"name": "look", "input": {}}]},
        {"text": "Never said."},
    ]});
    let request = RunRequest::new("narrowed", Message::user("Go."))
        .limits(turns(2))
        .tools(["look", "put"])
        .deny("put");
    let record = stage.submit_request("narrowed", &script, request).await;
    let record = record.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::MaxTurns));
    let called = |position| stage.world.attempts_at("narrowed", 1, position).len();
    assert_eq!([called(1), called(2), called(3)], [1, 0, 0]);
    let refused = record.events.iter().filter(|event| {
        matches!(
            event,
            RunEvent::ToolFinished {
                turn: 1,
                is_error: true,
                ..
            }
        )
    });
    assert_eq!(refused.count(), 2);

    let request = RunRequest::new("widened", Message::user("Go.")).limits(turns(51));
    let record = stage.submit_request("widened", &script, request).await;
    let output = record.ends().await.output;
    assert_eq!(output.exit_reason, Some(ExitReason::Failed));
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::InvalidRequest);
    let said = "turns 51 is above the turns 50 of the agent widened";
    assert!(error.message.contains(said), "{}", error.message);
    assert!(stage.world.attempts_at("widened", 1, 0).is_empty());
}
