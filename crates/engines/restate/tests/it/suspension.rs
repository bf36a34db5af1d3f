//! Runs that Restate suspends, and steps that take longer than it waits.

use std::time::Duration;

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{RunPhase, ToolEffects, UserMessage, Verdict};
use serde_json::json;

use crate::stage::Stage;

/// After this time Restate suspends a run that does nothing.
const SOON: Duration = Duration::from_millis(200); // Only so that it does not take long.

/// A duration that is longer than that.
const LONGER: Duration = Duration::from_secs(1); // Any longer would do as well.

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_is_suspended_and_resumed_by_a_decision() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "echo", "input": {"text": "one"}}]},
        {"text": "Done."},
    ]});
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &[NotedTool::echo(ToolEffects::Write)]);
    spec.approvals.approve = vec!["*".into()];
    let stage = Stage::set("suspended").await;
    let _worker = stage
        .worker_with(&executor, |services| services.with_inactivity_timeout(SOON))
        .await;
    let run = stage.start("parked", &spec).await;
    let tickets = stage
        .reaches(&run, RunPhase::WaitingForApproval)
        .await
        .approvals;
    until(async || {
        let query = "SELECT status FROM sys_invocation WHERE target = 'suspended/parked/run'";
        let rows = stage.query(query).await;
        (rows[0]["status"] == "suspended").then_some(())
    })
    .await;
    stage
        .client
        .send(&run, UserMessage::new("And this."))
        .await
        .unwrap();
    let approval = decision(&tickets[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(model.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_takes_longer_than_restate_waits_is_made_once() {
    let script = json!({"turns": [
        {"tool_calls": [{"name": "slow", "input": {}}], "delay_ms": 1_000}, // As LONGER is.
        {"text": "Done."},
    ]});
    let model = NotedModel::new(&script);
    let slow = NotedTool::new("slow", ToolEffects::Write, |_| async {
        tokio::time::sleep(LONGER).await; // Any longer would do as well.
        Ok(neuron_types::ToolOutput::text("slow"))
    });
    let (spec, executor) = noted_agent(&model, std::slice::from_ref(&slow));
    let stage = Stage::set("slow-steps").await;
    let _worker = stage
        .worker_with(&executor, |services| services.with_inactivity_timeout(SOON))
        .await;
    let output = stage.run("slow", &spec).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(model.count(), 2);
    assert_eq!(slow.keys(), ["slow:1:1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_retry_delay_is_slept_while_the_run_is_suspended() {
    let asked = LONGER.as_millis();
    let fail = json!({"kind": "overloaded", "retry_after_ms": asked, "message": "later"});
    let model = NotedModel::new(&json!({"turns": [{"text": "Done.", "fail": [fail]}]}));
    let (spec, executor) = noted_agent(&model, &[]);
    let stage = Stage::set("slept").await;
    let _worker = stage
        .worker_with(&executor, |services| services.with_inactivity_timeout(SOON))
        .await;
    let output = stage.run("slept", &spec).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    let calls = model.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 2);
    assert!(calls[1] - calls[0] >= LONGER);
}
