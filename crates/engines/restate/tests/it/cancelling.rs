//! Cancelling reaches what is in flight.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, noted_agent};
use neuron_types::{ExitReason, RunId, RunOutput, RunPhase, ToolEffects, ToolError, ToolOutput};
use serde_json::json;

use crate::stage::Stage;

/// Longer than any test waits for the end of a run.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.

/// Waits for the end of a cancelled run that would continue for a day.
async fn cancelled(stage: &Stage, run: &RunId) -> RunOutput {
    let output = stage.wait(run).await;
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    let status = stage.client.status(run).await.unwrap();
    assert_eq!(status.state, RunPhase::Cancelled);
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_while_its_model_call_hangs_and_the_call_is_dropped() {
    let stage = Stage::set("cancel-model").await;
    let model = NotedModel::hanging();
    let (mut spec, executor) = noted_agent(&model, &[]);
    spec.model_timeout = A_DAY;
    let _worker = stage.worker(&executor).await;

    let run = stage.start("by-handler", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    let reason = Some("enough".to_owned());
    stage.client.cancel(&run, reason).await.unwrap();
    let output = cancelled(&stage, &run).await;
    assert_eq!(output.error.unwrap().message, "enough");
    until(async || *model.dropped.lock().unwrap()).await;

    *model.dropped.lock().unwrap() = None;
    let run = stage.start("by-restate", &spec).await;
    until(async || (model.count() == 2).then_some(())).await;
    stage.change(&run, "cancel").await;
    cancelled(&stage, &run).await;
    until(async || *model.dropped.lock().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_while_its_tools_hang_and_their_calls_are_dropped() {
    let stage = Stage::set("cancel-tools").await;
    for calls in [1, 3] {
        let call = json!({"name": "hang", "input": {}});
        let script = json!({"turns": [{"tool_calls": vec![call; calls]}, {"text": "Done."}]});
        let ended = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ended);
        let hang = NotedTool::new("hang", ToolEffects::Write, move |_| {
            let ended = Ended(Arc::clone(&count));
            async move {
                let _ended = ended;
                std::future::pending::<Result<ToolOutput, ToolError>>().await
            }
        });
        let model = NotedModel::new(&script);
        let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&hang));
        spec.tool_timeout = A_DAY;
        let _worker = stage.worker(&executor).await;
        let run = stage.start(&format!("tools-{calls}"), &spec).await;
        until(async || (hang.keys().len() == calls).then_some(())).await;
        stage.client.cancel(&run, None).await.unwrap();
        cancelled(&stage, &run).await;
        until(async || {
            let ended = ended.load(Ordering::Relaxed);
            (ended == calls).then_some(())
        })
        .await;
        assert_eq!(model.count(), 1, "the model is not called again");
    }
}

struct Ended(Arc<AtomicUsize>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
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
    stage.client.cancel(&run, None).await.unwrap();
    cancelled(&stage, &run).await;
    drop(worker);

    let fail = json!({"kind": "overloaded", "retry_after_ms": 43_200_000, "message": "later"}); // Nothing ends by it.
    let model = NotedModel::new(&json!({"turns": [{"text": "Done.", "fail": [fail]}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let _worker = stage.worker(&executor).await;
    let run = stage.start("retry", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    stage.client.cancel(&run, None).await.unwrap();
    cancelled(&stage, &run).await;
}
