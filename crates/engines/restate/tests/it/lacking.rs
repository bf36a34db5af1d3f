//! Workers that lack what a run needs.

use neuron_engine::RunClient as _;
use neuron_executor::Executor;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{BlockedKind, ExitReason, RunId, ToolEffects, ToolOutput};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_step_waits_for_a_worker_that_has_what_it_needs_and_no_look_is_an_attempt() {
    let stage = Stage::set("lacking").await;
    let write = NotedTool::new("write", ToolEffects::Write, |_| async {
        Ok(ToolOutput::text("written"))
    });
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&write));
    spec.retry.maximum_attempts = 1;

    let without_provider = Executor::builder().tools(executor.tools().clone()).build();
    let worker = stage.worker(&without_provider).await;
    let run = stage.start("lacking", &spec).await;
    is_blocked(&stage, &run, "there is no provider \"script\"").await;
    drop(worker);

    // The run's agent has a tool that this executor lacks.
    let without_tool = Executor::builder()
        .provider("script", model.clone())
        .build();
    let agents = [spec.clone()].into_iter().collect();
    let worker = stage
        .worker_with(&without_tool, |services| services.with_agents(agents))
        .await;
    is_blocked(&stage, &run, "the tool \"write\" is not here").await;
    drop(worker);

    let _worker = stage.worker(&executor).await;
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    assert_eq!((model.count(), write.keys().len()), (2, 1));
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.blocked, None);
}

/// Waits until the run's status shows that it is blocked, and why.
async fn is_blocked(stage: &Stage, run: &RunId, why: &str) {
    let blocked = until(async || {
        let status = stage.client.status(run).await.ok()?;
        status
            .blocked
            .filter(|blocked| blocked.detail.contains(why))
    })
    .await;
    assert_eq!(blocked.kind, BlockedKind::NoWorker);
}
