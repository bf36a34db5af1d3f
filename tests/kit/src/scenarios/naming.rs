//! Runs that are started with the name of an agent.

use neuron_types::{AgentSpec, BlockedKind, ExitReason, Limits, RunPhase};
use serde_json::{Value, json};

use crate::{Host, Stage, agent};

fn clerk(script: &str) -> AgentSpec {
    let mut agent = agent();
    agent.name = "clerk".to_owned();
    script.clone_into(&mut agent.head_mut().model);
    agent
}

fn script() -> Value {
    json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {}}]},
        {"text": "Done."},
    ]})
}

/// The worker's definition becomes the run's, and stays the run's when the worker is started again with another one.
pub async fn a_run_is_started_by_name<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "by_name").await;
    let definition = clerk("run");
    stage.world.define(definition.clone());
    stage.execute().await;
    let mut call = stage.world.hold("run", 1, 1);
    let run = stage.submit_to("run", &script(), "clerk").await;
    call.reached().await;
    if H::SURVIVES {
        stage.kill().await;
        stage.world.define(AgentSpec {
            limits: Limits {
                turns: Some(1),
                ..Limits::default()
            },
            ..clerk("another")
        });
        stage.execute().await;
    }
    call.release();
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(record.output.turns, 2);
    let status = run.reaches(RunPhase::Completed, |_| true).await;
    assert_eq!(status.definition, Some(definition.fingerprint()));
    assert_eq!((status.agent.as_str(), status.blocked), ("clerk", None));
}

/// A run whose agent no worker has reports that, continues when a worker has the agent, and can be cancelled before.
pub async fn an_agent_that_no_worker_has_is_waited_for<H: Host>(host: &H) {
    let stage = Stage::open(host, "nobody").await;
    let run = stage.submit_to("run", &script(), "clerk").await;
    let given_up = stage.submit_to("given-up", &script(), "clerk").await;
    for run in [&run, &given_up] {
        let status = run.reaches(RunPhase::Running, |status| status.blocked.is_some());
        let blocked = status.await.blocked.unwrap();
        assert_eq!(blocked.kind, BlockedKind::NoWorker);
        let said = r#"there is no agent named "clerk" here (known: none)"#;
        assert_eq!(blocked.detail, said);
    }
    given_up.cancel("enough").await;
    let output = given_up.ends().await.output;
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(output.error.unwrap().message, "enough");

    stage.kill().await;
    let definition = clerk("run");
    stage.world.define(definition.clone());
    stage.execute().await;
    let output = run.ends().await.output;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    let status = run.reaches(RunPhase::Completed, |_| true).await;
    assert_eq!(status.definition, Some(definition.fingerprint()));
    assert_eq!(status.blocked, None);
}
