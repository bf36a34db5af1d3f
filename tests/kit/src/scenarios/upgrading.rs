//! Runs that adopt the current definition of their agent.

use neuron_types::{AgentSpec, ExitReason, Limits, RunEvent, RunPhase, SystemPrompt, signal};
use serde_json::{Value, json};

use crate::{Host, Stage, agent};

fn clerk(script: &str) -> AgentSpec {
    let mut agent = agent();
    agent.name = "clerk".to_owned();
    script.clone_into(&mut agent.head_mut().model);
    agent
}

/// Returns another model, with instructions and fewer tools.
fn later() -> AgentSpec {
    let mut agent = AgentSpec {
        limits: Limits {
            turns: Some(5),
            ..Limits::default()
        },
        ..clerk("later")
    };
    let head = agent.head_mut();
    head.system = Some(SystemPrompt::Text("Be brief.".to_owned()));
    head.tools.retain(|tool| tool.name != "put");
    agent
}

fn script() -> Value {
    json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {}}]},
        {"text": "Done."},
    ]})
}

/// The worker has another definition of the agent, and an upgrade is requested: the run uses it from its next turn on.
/// A run that was started with a definition keeps that, and reports it.
pub async fn a_run_adopts_the_current_definition<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "upgraded").await;
    stage.world.define(clerk("run"));
    stage.world.script("later", &script());
    stage.execute().await;
    let mut call = stage.world.hold("run", 1, 1);
    let run = stage.submit_to("run", &script(), "clerk").await;
    call.reached().await;
    stage.kill().await;
    stage.world.define(later());
    let mut again = stage.world.hold("run", 1, 1);
    call.release();
    stage.execute().await;
    again.reached().await;
    run.signal(signal::UPGRADE, json!({"by": "ada"})).await;
    // The message that was sent before is there, too.
    run.send("Go on.").await;
    run.has_received(1).await;
    again.release();

    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    let upgrades: Vec<&RunEvent> = record
        .events
        .iter()
        .filter(|event| matches!(event, RunEvent::Upgraded { .. }))
        .collect();
    let changes = ["instructions", "model", "limits", "tool removed: put"];
    let expected = RunEvent::Upgraded {
        turn: 1,
        from: clerk("run").fingerprint(),
        to: later().fingerprint(),
        changes: changes.map(ToOwned::to_owned).to_vec(),
        by: Some("ada".to_owned()),
        signed: false,
    };
    assert_eq!(upgrades, [&expected]);
    assert!(!stage.world.attempts_at("later", 2, 0).is_empty());
    assert!(stage.world.attempts_at("run", 2, 0).is_empty());
    let status = run.reaches(RunPhase::Completed, |_| true).await;
    assert_eq!(status.definition, Some(later().fingerprint()));

    let mut call = stage.world.hold("whole", 1, 1);
    let whole = stage.submit("whole", &script(), agent()).await;
    call.reached().await;
    whole.signal(signal::UPGRADE, json!({})).await;
    whole.send("Go on.").await;
    whole.has_received(1).await;
    call.release();
    let record = whole.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    let ignored = record.events.iter().any(
        |event| matches!(event, RunEvent::SignalIgnored { name, .. } if name == signal::UPGRADE),
    );
    assert!(ignored, "{:?}", record.events);
}
