//! Workers that lack what a run needs.

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_executor::Executor;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, input_of, noted_agent};
use neuron_types::{
    ActivitySettings, BlockedKind, ExitReason, RunId, ToolEffects, ToolOutput, ToolSettings,
};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_step_waits_for_a_worker_that_has_what_it_needs_and_no_look_is_an_attempt() {
    let stage = Stage::set().await;
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
    let worker = stage.worker(&without_provider);
    let run = stage.start("lacking", &spec).await;
    is_blocked(&stage, &run, "there is no provider \"script\"").await;
    drop(worker);

    // The run's agent has a tool that this executor lacks.
    let without_tool = Executor::builder()
        .provider("script", model.clone())
        .build();
    let agents = [spec.clone()].into_iter().collect();
    let worker = stage.worker_with(&without_tool, |builder| builder.agents(agents));
    is_blocked(&stage, &run, "the tool \"write\" is not here").await;
    drop(worker);

    let _worker = stage.worker(&executor);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    assert_eq!((model.count(), write.keys().len()), (2, 1));
    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.blocked, None);
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_a_queue_that_nobody_polls_says_so_and_goes_on_when_somebody_does() {
    let stage = Stage::set().await;
    let model = NotedModel::new(&json!({"turns": [{"text": "Done."}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    // A worker polls another queue.
    let _elsewhere = stage.worker(&executor);
    let run = RunId::new("typo").unwrap();
    let client = stage.client.clone().with_task_queue("typo");
    client.start(&run, input_of(&spec).into()).await.unwrap();
    let why = "no worker polls the task queue \"typo\"";
    is_blocked(&stage, &run, why).await;
    let listed = until(async || {
        let all = RunFilter::all();
        let page = client.list(&all, PageRequest::first(10)).await.unwrap();
        page.runs.into_iter().find(|listed| listed.run_id == run)
    });
    assert!(listed.await.blocked.is_some());

    let _worker = stage.worker_with(&executor, |builder| builder.task_queue("typo"));
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete), "{output:?}");
    assert_eq!(stage.client.status(&run).await.unwrap().blocked, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_a_queue_that_nobody_polls_holds_its_run_up_and_the_queue_is_named() {
    let stage = Stage::set().await;
    let write = NotedTool::new("write", ToolEffects::Write, |_| async {
        Ok(ToolOutput::text("written"))
    });
    let model = NotedModel::new(&json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]}));
    let (mut spec, executor) = noted_agent(&model, std::slice::from_ref(&write));
    let own = ToolSettings {
        activity: ActivitySettings {
            task_queue: Some("gpu-typo".into()),
            ..ActivitySettings::default()
        },
        ..ToolSettings::default()
    };
    spec.tool_settings.insert("write".into(), own);
    let _worker = stage.worker(&executor);
    let run = stage.start("misplaced", &spec).await;
    is_blocked(&stage, &run, "the task queue \"gpu-typo\"").await;
    stage.client.cancel(&run, None).await.unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
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
