//! Cancelling reaches what is in flight.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use neuron_testing::{NotedModel, NotedTool, noted_agent, until};
use neuron_types::{
    ExitReason, Placement, RunId, RunOutput, RunPhase, ToolEffects, ToolError, ToolOutput,
};
use serde_json::json;
use temporalio_client::WorkflowCancelOptions;
use temporalio_common::UntypedWorkflow;

use crate::stage::Stage;

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
    let (spec, executor) = noted_agent(&model, &[]);
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
    let (spec, executor) = noted_agent(&model, &[]);
    let run = stage.start("early", &spec).await;
    stage.client.cancel(&run, None).await.unwrap();
    let _worker = stage.worker(&executor);
    let output = stage.client.wait(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(model.count(), 0);
}

/// Its calls end when they are dropped, and say when that was.
struct Deaf(Arc<Mutex<Option<Instant>>>);

impl Drop for Deaf {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = Some(Instant::now());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_does_not_listen_ends_within_five_seconds_wherever_it_is_called() {
    const SOON: Duration = Duration::from_secs(5);
    let script =
        json!({"turns": [{"tool_calls": [{"name": "hang", "input": {}}]}, {"text": "Done."}]});
    let stage = Stage::set().await;
    for (run, effects, placement) in [
        ("cancelled-local", ToolEffects::ReadOnly, Placement::Local),
        ("cancelled-read", ToolEffects::ReadOnly, Placement::Activity),
        ("cancelled-write", ToolEffects::Write, Placement::Activity),
    ] {
        let dropped = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&dropped);
        let hang = NotedTool::new("hang", effects, move |_| {
            let deaf = Deaf(Arc::clone(&noted));
            async move {
                let _deaf = deaf;
                std::future::pending::<Result<ToolOutput, ToolError>>().await
            }
        });
        let (mut spec, executor) =
            noted_agent(&NotedModel::new(&script), std::slice::from_ref(&hang));
        spec.activity.placement = Some(placement);
        let _worker = stage.worker(&executor);
        let run = stage.start(run, &spec).await;
        until(async || (!hang.keys().is_empty()).then_some(())).await;
        let since = Instant::now();
        stage.client.cancel(&run, None).await.unwrap();
        let output = stage.client.wait(&run).await.unwrap();
        let took = since.elapsed();
        println!("{run} after {took:?}");
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        assert!(took < SOON, "{run}: {took:?}");
        let dropped = until(async || *dropped.lock().unwrap()).await;
        assert!(dropped - since < SOON, "{run}: {:?}", dropped - since);
        stage.replays(&run).await;
    }
}
