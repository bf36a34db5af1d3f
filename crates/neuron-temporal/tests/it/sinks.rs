//! What a worker's sink is told.

use std::{sync::Arc, time::Duration};

use neuron_runtime::{EventSink, Executor};
use neuron_testing::{
    NotedModel, NotedTool, Pieces, StreamingModel, Watcher, decision, noted_agent,
};
use neuron_types::{
    AgentSpec, CompletionRequest, FailureKind, RecordedEvent, RunPhase, ToolEffects, Verdict,
};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_told_while_it_comes_and_a_retry_supersedes_the_attempt_before() {
    let model = StreamingModel::new([
        Pieces::failure(&["Hel", "lo, wor"], FailureKind::Network),
        Pieces::answer(&["Good", " day", "."]),
    ]);
    let mut spec = AgentSpec {
        request: CompletionRequest {
            provider: Some("pieces".into()),
            model: "streaming".into(),
            ..CompletionRequest::default()
        },
        ..AgentSpec::default()
    };
    spec.retry.initial_interval = Duration::from_millis(50);
    let executor = Executor::builder().provider("pieces", model).build();
    let watcher = Arc::new(Watcher::default());
    let stage = Stage::set().await;
    let sink = Arc::clone(&watcher) as Arc<dyn EventSink>;
    let _worker = stage.worker_with(&executor, |builder| builder.sink(sink));

    let output = stage.run("streamed", &spec).await;

    assert_eq!(output.output.as_deref(), Some("Good day."), "{output:?}");
    let texts = [
        "streamed 1.1.0 Hel",
        "streamed 1.1.1 lo, wor",
        "streamed 1.2.0 Good",
        "streamed 1.2.1  day",
        "streamed 1.2.2 .",
    ];
    assert_eq!(watcher.texts(), texts);
    let [notice] = watcher.retries().try_into().unwrap();
    assert_eq!((notice.step.turn, notice.attempt), (1, 1));
    assert_eq!(notice.failure.kind, FailureKind::Network);
    assert!(!notice.delay.is_zero());
    let recorded = stage.client.events(&output.run_id).await.unwrap();
    assert_eq!(watcher.log(), recorded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_replayed_at_every_step_tells_each_event_that_the_server_took_once() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"tool_calls": [{"name": "look", "input": {"text": "three"}}]},
        {"text": "Done."},
    ]});
    let look = NotedTool::new("look", ToolEffects::ReadOnly, |_| async {
        Ok(neuron_types::ToolOutput::text("seen"))
    });
    let tools = [NotedTool::echo(ToolEffects::Write), look];
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &tools);
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    let watcher = Arc::new(Watcher::default());
    let sink = Arc::clone(&watcher) as Arc<dyn EventSink>;
    let _worker = stage.worker_with(&executor, |builder| builder.cached_runs(0).sink(sink));
    let run = stage.start("replayed", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let approval = decision(&status.approvals[0], Verdict::Approve);
    stage.client.decide(&run, approval).await.unwrap();
    let output = stage.client.wait(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(model.count(), 3);
    assert_eq!(tools[0].keys().len() + tools[1].keys().len(), 3);

    let recorded = stage.client.events(&run).await.unwrap();
    assert_eq!(watcher.log(), recorded);
    // A task that the server did not take, or that was executed to answer a query, comes again. Its events have
    // one time, as a task's events have, and none of a task before it comes with them.
    let at = |event: &RecordedEvent| recorded[usize::try_from(event.seq).unwrap() - 1].at;
    let told = watcher.events();
    for pair in told.windows(2).filter(|pair| pair[1].seq <= pair[0].seq) {
        assert_eq!(
            at(&pair[1]),
            at(&pair[0]),
            "a step was told again: {told:#?}"
        );
    }
}
