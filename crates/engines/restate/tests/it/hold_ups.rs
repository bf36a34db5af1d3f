//! Runs that are blocked: their worker is gone, or the server has ended them.

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{
    BlockedKind, ExitReason, RunPhase, RunStatus, ToolEffects, UserMessage, Verdict,
};
use serde_json::json;

use crate::stage::Stage;

async fn listed(stage: &Stage, filter: &RunFilter) -> Vec<RunStatus> {
    let page = PageRequest::first(10);
    stage.client.list(filter, page).await.unwrap().runs
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_worker_is_gone_says_where_it_was_and_when_it_is_tried_again() {
    let stage = Stage::set("gone").await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Done."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    drop(stage.worker(&executor).await);
    let run = stage.start("gone", &spec).await;
    let blocked = until(async || stage.client.status(&run).await.ok()?.blocked).await;
    assert_eq!(blocked.kind, BlockedKind::WorkerUnreachable);
    assert!(blocked.detail.contains("http://127.0.0.1:"), "{blocked:?}");
    assert!(blocked.attempt.is_some(), "{blocked:?}");
    let all = RunFilter::all();
    let in_list = async || listed(&stage, &all).await.pop()?.blocked;
    assert_eq!(until(in_list).await.kind, BlockedKind::WorkerUnreachable);

    let _worker = stage.worker(&executor).await;
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    assert_eq!(stage.client.status(&run).await.unwrap().blocked, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_killed_waits_for_nobody_and_takes_nothing() {
    let stage = Stage::set("killed").await;
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let _worker = stage.worker(&executor).await;
    let run = stage.start("killed", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    stage.change(&run, "kill").await;

    let killed = stage.reaches(&run, RunPhase::Failed).await;
    assert!(killed.approvals.is_empty());
    assert_eq!(killed.blocked, None);
    let message = killed.error.unwrap().message;
    assert!(message.contains("killed"), "{message}");
    let waited = stage.client.wait(&run).await.unwrap();
    assert_eq!(waited.exit_reason, Some(ExitReason::Terminated));
    assert!(listed(&stage, &RunFilter::open()).await.is_empty());
    let [in_list] = listed(&stage, &RunFilter::all()).await.try_into().unwrap();
    assert_eq!(in_list.state, RunPhase::Failed);
    let page = PageRequest::first(10);
    let tickets = stage.client.tickets(None, page).await.unwrap();
    assert!(tickets.tickets.is_empty());

    let approval = decision(&status.approvals[0], Verdict::Approve);
    for rejected in [
        stage.client.decide(&run, &approval).await,
        stage.client.send(&run, UserMessage::new("hello")).await,
        stage.client.cancel(&run, None).await.map(drop),
    ] {
        assert!(rejected.unwrap_err().is_run_over());
    }
}
