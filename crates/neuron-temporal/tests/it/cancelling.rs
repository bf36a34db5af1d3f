//! Cancelling reaches what is in flight.

use std::time::{Duration, Instant};

use neuron_types::{ExitReason, RunId, RunOutput, RunPhase, ToolEffects, ToolError, ToolOutput};
use serde_json::json;
use temporalio_client::WorkflowCancelOptions;
use temporalio_common::UntypedWorkflow;

use crate::{
    model::NotedModel,
    stage::{Stage, agent, until},
    tools::TestTool,
};

fn hanging() -> NotedModel {
    NotedModel::new(&json!({"turns": [{"text": "late", "delay_ms": 600_000}]}))
}

async fn cancelled(stage: &Stage, model: &NotedModel, run: &RunId, since: Instant) -> RunOutput {
    let output = stage.client.wait(run).await.unwrap();
    let took = since.elapsed();
    println!("cancelled {run} after {took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    let dropped = until(async || *model.dropped.lock().unwrap()).await;
    assert!(dropped - since < Duration::from_secs(5));
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_model_call_ends_within_five_seconds() {
    let stage = Stage::set().await;
    let model = hanging();
    let (spec, executor) = agent(&model, &[]);
    let _worker = stage.worker(&executor);

    let run = stage.start("by-signal", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    let since = Instant::now();
    let reason = Some("enough".to_owned());
    stage.client.cancel(&run, reason).await.unwrap();
    let output = cancelled(&stage, &model, &run, since).await;
    assert_eq!(output.error.unwrap().message, "enough");
    stage.replays(&run).await;

    *model.dropped.lock().unwrap() = None;
    let run = stage.start("by-temporal", &spec).await;
    until(async || (model.count() == 2).then_some(())).await;
    let since = Instant::now();
    let handle = stage.client.temporal();
    let handle = handle.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    let options = WorkflowCancelOptions::builder()
        .reason("from the UI")
        .build();
    handle.cancel(options).await.unwrap();
    let output = cancelled(&stage, &model, &run, since).await;
    assert_eq!(output.error.unwrap().message, "from the UI");
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_before_a_worker_has_it_calls_nothing() {
    let stage = Stage::set().await;
    let model = hanging();
    let (spec, executor) = agent(&model, &[]);
    let run = stage.start("early", &spec).await;
    stage.client.cancel(&run, None).await.unwrap();
    let _worker = stage.worker(&executor);
    let output = stage.client.wait(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(model.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_tool_in_the_runs_own_worker_ends_soon() {
    let stage = Stage::set().await;
    let script =
        json!({"turns": [{"tool_calls": [{"name": "hang", "input": {}}]}, {"text": "Done."}]});
    let model = NotedModel::new(&script);
    let hang = TestTool::new("hang", ToolEffects::ReadOnly, |_| {
        std::future::pending::<Result<ToolOutput, ToolError>>()
    });
    let (mut spec, executor) = agent(&model, std::slice::from_ref(&hang));
    spec.tool_timeout = Duration::from_secs(5);
    let _worker = stage.worker(&executor);
    let run = stage.start("local", &spec).await;
    until(async || (!hang.keys().is_empty()).then_some(())).await;
    let since = Instant::now();
    stage.client.cancel(&run, None).await.unwrap();
    let output = stage.client.wait(&run).await.unwrap();
    let took = since.elapsed();
    println!("cancelled a local tool after {took:?}");
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    // The worker reports after four seconds, and the executor gives a tool three to end by itself.
    assert!(took < Duration::from_secs(8), "{took:?}");
}
