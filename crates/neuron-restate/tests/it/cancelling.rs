//! Cancelling reaches what is in flight.

use std::time::{Duration, Instant};

use neuron_testing::{NotedModel, NotedTool, noted_agent, until};
use neuron_types::{ExitReason, RunId, RunOutput, RunPhase, ToolEffects, ToolError, ToolOutput};
use serde_json::json;

use crate::stage::Stage;

const SOON: Duration = Duration::from_secs(5);

fn hanging() -> NotedModel {
    NotedModel::new(&json!({"turns": [{"text": "late", "delay_ms": 600_000}]}))
}

async fn cancelled(stage: &Stage, run: &RunId, since: Instant) -> RunOutput {
    let output = stage.wait(run).await;
    let took = since.elapsed();
    println!("cancelled {run} after {took:?}");
    assert!(took < SOON, "{took:?}");
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    let status = stage.client.status(run).await.unwrap();
    assert_eq!(status.state, RunPhase::Cancelled);
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_model_call_ends_within_five_seconds() {
    let stage = Stage::set("cancel-model").await;
    let model = hanging();
    let (spec, executor) = noted_agent(&model, &[]);
    let _worker = stage.worker(&executor).await;

    let run = stage.start("by-handler", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    let since = Instant::now();
    let reason = Some("enough".to_owned());
    stage.client.cancel(&run, reason).await.unwrap();
    let output = cancelled(&stage, &run, since).await;
    assert_eq!(output.error.unwrap().message, "enough");
    let dropped = until(async || *model.dropped.lock().unwrap()).await;
    assert!(dropped - since < SOON);

    *model.dropped.lock().unwrap() = None;
    let run = stage.start("by-restate", &spec).await;
    until(async || (model.count() == 2).then_some(())).await;
    let since = Instant::now();
    stage.change(&run, "cancel").await;
    cancelled(&stage, &run, since).await;
    let dropped = until(async || *model.dropped.lock().unwrap()).await;
    assert!(dropped - since < SOON);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_in_flight_end_within_five_seconds() {
    let stage = Stage::set("cancel-tools").await;
    for calls in [1, 3] {
        let call = json!({"name": "hang", "input": {}});
        let script = json!({"turns": [{"tool_calls": vec![call; calls]}, {"text": "Done."}]});
        let ended = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = std::sync::Arc::clone(&ended);
        let hang = NotedTool::new("hang", ToolEffects::Write, move |_| {
            let ended = Ended(std::sync::Arc::clone(&count));
            async move {
                let _ended = ended;
                std::future::pending::<Result<ToolOutput, ToolError>>().await
            }
        });
        let model = NotedModel::new(&script);
        let (spec, executor) = noted_agent(&model, std::slice::from_ref(&hang));
        let _worker = stage.worker(&executor).await;
        let run = stage.start(&format!("tools-{calls}"), &spec).await;
        until(async || (hang.keys().len() == calls).then_some(())).await;
        let since = Instant::now();
        stage.client.cancel(&run, None).await.unwrap();
        cancelled(&stage, &run, since).await;
        until(async || {
            let ended = ended.load(std::sync::atomic::Ordering::Relaxed);
            (ended == calls).then_some(())
        })
        .await;
        println!("{calls} tools ended after {:?}", since.elapsed());
        assert!(since.elapsed() < SOON);
        assert_eq!(model.count(), 1, "the model is not called again");
    }
}

struct Ended(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_a_person_or_for_a_retry_is_cancelled() {
    let stage = Stage::set("cancel-waits").await;
    let script = json!({"turns": [{"tool_calls": [{"name": "echo", "input": {}}]}]});
    let echo = NotedTool::echo(ToolEffects::Write);
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script), &[echo]);
    spec.approvals.approve = vec!["*".into()];
    let worker = stage.worker(&executor).await;
    let run = stage.start("ticket", &spec).await;
    stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let since = Instant::now();
    stage.client.cancel(&run, None).await.unwrap();
    cancelled(&stage, &run, since).await;
    drop(worker);

    let fail = json!({"kind": "overloaded", "retry_after_ms": 600_000, "message": "later"});
    let model = NotedModel::new(&json!({"turns": [{"text": "Done.", "fail": [fail]}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let _worker = stage.worker(&executor).await;
    let run = stage.start("retry", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    let since = Instant::now();
    stage.client.cancel(&run, None).await.unwrap();
    cancelled(&stage, &run, since).await;
}
