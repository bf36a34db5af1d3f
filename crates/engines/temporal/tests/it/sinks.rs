//! The events that a worker's sink gets.

use std::sync::Arc;

use neuron_engine::RunClient as _;
use neuron_executor::EventSink;
use neuron_testing::{BrokenOffAnswer, NotedModel, NotedTool, Watcher, decision, noted_agent};
use neuron_types::{RecordedEvent, RunPhase, ToolEffects, Verdict};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_told_while_it_comes_and_a_retry_supersedes_the_attempt_before() {
    let answer = BrokenOffAnswer::default();
    let stage = Stage::set().await;
    let sink = answer.sink();
    let _worker = stage.worker_with(&answer.executor, |builder| builder.sink(sink));
    let output = stage.run("streamed", &answer.spec).await;
    let recorded = stage.client.events_after(&output.run_id, 0).await.unwrap();
    answer.check(&output, &recorded);
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
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(model.count(), 3);
    assert_eq!(tools[0].keys().len() + tools[1].keys().len(), 3);

    let recorded = stage.client.events_after(&run, 0).await.unwrap();
    assert_eq!(watcher.log(), recorded);
    // A task that the server did not take, or that was executed to answer a query, is executed again. All events of a
    // task have the same time, and no event of an earlier task is repeated with them.
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
