//! The events that a worker's sink gets.

use std::{sync::Arc, time::Duration};

use neuron_engine::RunClient as _;
use neuron_executor::EventSink;
use neuron_harness::until;
use neuron_testing::{BrokenOffAnswer, NotedModel, NotedTool, Watcher, decision, noted_agent};
use neuron_types::{RunPhase, ToolEffects, Verdict};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_told_while_it_comes_and_a_retry_supersedes_the_attempt_before() {
    let answer = BrokenOffAnswer::default();
    let stage = Stage::set("streamed").await;
    let sink = answer.sink();
    let _worker = stage
        .worker_with(&answer.executor, |services| services.with_sink(sink))
        .await;
    let output = stage.run("streamed", &answer.spec).await;
    let recorded = stage.client.events_after(&output.run_id, 0).await.unwrap();
    answer.check(&output, &recorded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_suspended_and_replayed_tells_each_event_once() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"tool_calls": [{"name": "look", "input": {"text": "three"}}]},
        {"text": "Done.", "fail": [
            {"kind": "overloaded", "retry_after_ms": 1_000, "message": "later"}, // Any other would do.
        ]},
    ]});
    let look = NotedTool::new("look", ToolEffects::ReadOnly, |_| async {
        Ok(neuron_types::ToolOutput::text("seen"))
    });
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &[NotedTool::echo(ToolEffects::Write), look]);
    spec.approvals.approve = vec!["echo".into()];
    let watcher = Arc::new(Watcher::default());
    let stage = Stage::set("replayed").await;
    let sink = Arc::clone(&watcher) as Arc<dyn EventSink>;
    let _worker = stage
        .worker_with(&executor, |services| {
            services
                .with_inactivity_timeout(Duration::from_millis(200)) // Only so that it does not take long.
                .with_sink(sink)
        })
        .await;
    let run = stage.start("replayed", &spec).await;
    let tickets = stage
        .reaches(&run, RunPhase::WaitingForApproval)
        .await
        .approvals;
    until(async || {
        let query = "SELECT status FROM sys_invocation WHERE target = 'replayed/replayed/run'";
        let rows = stage.query(query).await;
        (rows[0]["status"] == "suspended").then_some(())
    })
    .await;
    let told = stage.client.events_after(&run, 0).await.unwrap();
    assert_eq!(watcher.events(), told, "what happens is told at once");
    let approval = decision(&tickets[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();

    let output = stage.wait(&run).await;

    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    let recorded = stage.client.events_after(&run, 0).await.unwrap();
    assert_eq!(watcher.events(), recorded);
    assert_eq!(watcher.retries().len(), 1);
}
