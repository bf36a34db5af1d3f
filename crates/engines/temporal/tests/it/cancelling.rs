//! Cancelling reaches what is in flight.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_patience::patience;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{
    ExitReason, Placement, RunId, RunOutput, RunPhase, ToolEffects, ToolError, ToolOutput, Verdict,
};
use serde_json::json;
use temporalio_client::WorkflowCancelOptions;
use temporalio_common::UntypedWorkflow;
use tokio::time::timeout;

use crate::stage::Stage;

/// Longer than any test waits for the end of a run.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.

/// Waits for the end of a cancelled run that would continue for a day.
async fn ended(stage: &Stage, run: &RunId) -> RunOutput {
    let ending = timeout(patience(), stage.client.wait_for_end(run));
    ending.await.expect("the run ends").unwrap()
}

/// The same for a run that hangs in its model call.
async fn cancelled(stage: &Stage, model: &NotedModel, run: &RunId) -> RunOutput {
    let output = ended(stage, run).await;
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    until(async || *model.dropped.lock().unwrap()).await;
    output
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_while_its_model_call_hangs_and_the_call_is_dropped() {
    let stage = Stage::set().await;
    let model = NotedModel::hanging();
    let (mut spec, executor) = noted_agent(&model, &[]);
    spec.model_timeout = A_DAY;
    let _worker = stage.worker(&executor);

    let run = stage.start("by-signal", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    let reason = Some("enough".to_owned());
    stage.client.cancel(&run, reason).await.unwrap();
    let output = cancelled(&stage, &model, &run).await;
    assert_eq!(output.error.unwrap().message, "enough");
    stage.replays(&run).await;

    *model.dropped.lock().unwrap() = None;
    let run = stage.start("by-temporal", &spec).await;
    until(async || (model.count() == 2).then_some(())).await;
    let handle = stage.client.temporal();
    let handle = handle.get_workflow_handle::<UntypedWorkflow>(run.as_str());
    let options = WorkflowCancelOptions::builder()
        .reason("from the UI")
        .build();
    handle.cancel(options).await.unwrap();
    let output = cancelled(&stage, &model, &run).await;
    assert_eq!(output.error.unwrap().message, "from the UI");
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_before_a_worker_has_it_calls_nothing() {
    let stage = Stage::set().await;
    let model = NotedModel::hanging();
    let (spec, executor) = noted_agent(&model, &[]);
    let run = stage.start("early", &spec).await;
    stage.client.cancel(&run, None).await.unwrap();
    let _worker = stage.worker(&executor);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(model.count(), 0);
}

/// Its calls end when they are dropped, and record that.
struct Deaf(Arc<AtomicBool>);

impl Drop for Deaf {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_while_its_tool_does_not_listen_wherever_it_is_called() {
    let script =
        json!({"turns": [{"tool_calls": [{"name": "hang", "input": {}}]}, {"text": "Done."}]});
    let stage = Stage::set().await;
    for (run, effects, placement) in [
        ("cancelled-local", ToolEffects::ReadOnly, Placement::Local),
        ("cancelled-read", ToolEffects::ReadOnly, Placement::Activity),
        ("cancelled-write", ToolEffects::Write, Placement::Activity),
    ] {
        let dropped = Arc::<AtomicBool>::default();
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
        spec.tool_timeout = A_DAY;
        let _worker = stage.worker(&executor);
        let run = stage.start(run, &spec).await;
        until(async || (!hang.keys().is_empty()).then_some(())).await;
        stage.client.cancel(&run, None).await.unwrap();
        let output = ended(&stage, &run).await;
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        until(async || dropped.load(Ordering::SeqCst).then_some(())).await;
        stage.replays(&run).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_terminated_waits_for_nobody_and_takes_nothing() {
    let stage = Stage::set().await;
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let _worker = stage.worker(&executor);
    let run = stage.start("by-command", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let (terminated, said) = stage.temporal(&["workflow", "terminate"]);
    assert!(terminated, "{said}");

    let output = ended(&stage, &run).await;
    assert_eq!(output.state, RunPhase::Failed);
    assert_eq!(output.exit_reason, Some(ExitReason::Terminated));
    let now = stage.client.status(&run).await.unwrap();
    assert_eq!(now.state, RunPhase::Failed);
    assert_eq!((now.approvals, now.blocked), (Vec::new(), None));
    assert!(now.error.unwrap().message.contains("terminated"));
    let approval = decision(&status.approvals[0], Verdict::Approve);
    let rejected = stage.client.decide(&run, &approval).await;
    assert!(rejected.unwrap_err().is_run_over());
}
