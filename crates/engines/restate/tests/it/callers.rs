//! What callers cannot set in a request.

use neuron_engine::RunClient as _;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{RunPhase, ToolEffects};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_rejected_by_a_worker_that_takes_names_only() {
    let stage = Stage::set("names-only").await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Hi."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let agents = [spec.clone()].into_iter().collect();
    let settings = |services: neuron_restate::AgentServices| {
        services.with_agents(agents).accept_definitions(false)
    };
    let _worker = stage.worker_with(&executor, settings).await;

    let output = stage.run("whole", &spec).await;
    assert_eq!(output.state, RunPhase::Failed);
    let message = output.error.unwrap().message;
    assert!(message.contains("takes names only"), "{message}");
    assert_eq!(model.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_outside_begins_a_segment_or_writes_what_one_starts_from() {
    let stage = Stage::set("private").await;
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let _worker = stage.worker(&executor).await;
    let run = stage.start("held", &spec).await;
    let held = stage.reaches(&run, RunPhase::WaitingForApproval).await;

    let (agent, inbox, record) = (
        stage.names.agent(),
        stage.names.inbox(),
        stage.names.record(),
    );
    let segments = stage.names.segments(None);
    let to = json!({"run": held.started_at, "at": "inv_1"});
    let decision =
        json!({"ticket": "t1-1", "digest": held.approvals[0].digest, "verdict": "approve"});
    let signal = json!({"name": "decision", "payload": decision, "at": held.started_at});
    for (handler, body) in [
        (format!("{agent}/{run}/segment"), json!(null)),
        (format!("{segments}/{run}/segment"), json!(null)),
        (
            format!("{inbox}/{run}/put"),
            json!({"to": to, "signal": signal}),
        ),
        (
            format!("{inbox}/{run}/cancel"),
            json!({"to": to, "body": {}}),
        ),
        (
            format!("{inbox}/{run}/attach"),
            json!({"to": to, "taken": 0}),
        ),
        (format!("{record}/{run}/carry"), json!({"state": {}})),
        (format!("{record}/{run}/forget"), json!(null)),
    ] {
        for path in [handler.clone(), format!("{handler}/send")] {
            let (answered, body) = stage.post_to(&path, &body).await;
            assert!((400..500).contains(&answered), "{path}: {answered} {body}");
        }
    }
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::WaitingForApproval);
    assert_eq!(echo.keys().len(), 0);
}
