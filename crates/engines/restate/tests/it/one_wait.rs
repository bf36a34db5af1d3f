//! What takes effect while effects are in flight, and what happens to them when a worker is lost.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{
    ExitReason, FailureKind, RunEvent, RunId, RunPhase, ToolEffects, ToolOutput, UserMessage,
    Verdict,
};
use serde_json::json;
use tokio::sync::Semaphore;

use crate::{server::Server, stage::Stage};

/// Returns a tool whose calls each take a permit, and the number of calls that were dropped before they had one.
fn held(name: &'static str, effects: ToolEffects) -> (NotedTool, Arc<Semaphore>, Arc<AtomicUsize>) {
    let (permits, dropped) = (Arc::new(Semaphore::new(0)), Arc::<AtomicUsize>::default());
    let (taken, count) = (Arc::clone(&permits), Arc::clone(&dropped));
    let tool = NotedTool::new(name, effects, move |_| {
        let permits = Arc::clone(&taken);
        let held = Held(Arc::clone(&count));
        async move {
            permits.acquire().await.unwrap().forget();
            std::mem::forget(held);
            Ok(ToolOutput::text("open"))
        }
    });
    (tool, permits, dropped)
}

struct Held(Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn asked() -> NotedTool {
    NotedTool::new("asked", ToolEffects::Write, |_| async {
        Ok(ToolOutput::text("written"))
    })
}

/// Returns a turn with a call of each of these tools, and a last turn.
fn turn_of(tools: &[&str]) -> serde_json::Value {
    let calls = tools.iter().map(|name| json!({"name": name, "input": {}}));
    json!({"turns": [{"tool_calls": calls.collect::<Vec<_>>()}, {"text": "Done."}]})
}

/// Waits until a matching event is written.
async fn happens(stage: &Stage, run: &RunId, like: impl Fn(&RunEvent) -> bool) {
    until(async || {
        let events = stage.client.events_after(run, 0).await.ok()?;
        events.iter().any(|event| like(&event.event)).then_some(())
    })
    .await;
}

fn finished(tool: &'static str) -> impl Fn(&RunEvent) -> bool {
    move |event| matches!(event, RunEvent::ToolFinished { tool: name, .. } if name == tool)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_is_made_while_its_neighbour_runs_and_not_again_after_the_loss_of_a_worker()
 {
    let (slow, gate, _) = held("slow", ToolEffects::ReadOnly);
    let asked = asked();
    let model = NotedModel::new(&turn_of(&["slow", "asked"]));
    let (mut spec, executor) = noted_agent(&model, &[slow.clone(), asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let stage = Stage::set("neighbours").await;
    let worker = stage.worker(&executor).await;
    let run = stage.begin("approved", &spec).await;
    let ticket = until(async || stage.client.status(&run).await.ok()?.approvals.pop()).await;
    until(async || (slow.keys().len() == 1).then_some(())).await;
    let approval = decision(&ticket, Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    happens(&stage, &run, finished("asked")).await;
    assert_eq!(asked.keys(), ["approved:1:2"]);
    assert_eq!(slow.keys(), ["approved:1:1"]);

    drop(worker);
    let _worker = stage.worker(&executor).await;
    until(async || (slow.keys().len() == 2).then_some(())).await;
    gate.add_permits(2);
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(asked.keys(), ["approved:1:2"]);
    assert_eq!(slow.keys(), ["approved:1:1", "approved:1:1"]);
    assert_eq!(model.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_and_a_denial_take_effect_before_what_is_in_flight_ends() {
    let (slow, gate, _) = held("slow", ToolEffects::ReadOnly);
    let asked = asked();
    let model = NotedModel::new(&turn_of(&["slow", "asked"]));
    let (mut spec, executor) = noted_agent(&model, &[slow.clone(), asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let stage = Stage::set("meanwhile").await;
    let worker = stage.worker(&executor).await;
    let run = stage.begin("meanwhile", &spec).await;
    let ticket = until(async || stage.client.status(&run).await.ok()?.approvals.pop()).await;
    let denial = decision(&ticket, Verdict::Deny);
    stage.client.decide(&run, &denial).await.unwrap();
    happens(&stage, &run, finished("asked")).await;
    stage
        .client
        .send(&run, UserMessage::new("And this."))
        .await
        .unwrap();
    let received = |event: &RunEvent| matches!(event, RunEvent::MessageReceived { .. });
    happens(&stage, &run, received).await;

    drop(worker);
    let _worker = stage.worker(&executor).await;
    until(async || (slow.keys().len() == 2).then_some(())).await;
    gate.add_permits(2);
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert!(asked.keys().is_empty());
    let seen = model.last_message().to_string();
    assert!(seen.contains("And this."), "{seen}");
    let events = stage.events(&run).await;
    assert_eq!(events.iter().filter(|event| received(event)).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_during_a_model_call_is_taken_up_at_once() {
    let model = NotedModel::hanging();
    let (spec, executor) = noted_agent(&model, &[]);
    let stage = Stage::set("thinking").await;
    let worker = stage.worker(&executor).await;
    let run = stage.begin("thinking", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    stage
        .client
        .send(&run, UserMessage::new("And this."))
        .await
        .unwrap();
    let received = |event: &RunEvent| matches!(event, RunEvent::MessageReceived { .. });
    happens(&stage, &run, received).await;
    drop(worker);
    let _worker = stage.worker(&executor).await;
    until(async || (model.count() == 2).then_some(())).await;
    stage.client.cancel(&run, None).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(model.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_ends_while_its_read_hangs_and_waits_for_its_write() {
    for by_restate in [false, true] {
        let (read, _, dropped) = held("read", ToolEffects::ReadOnly);
        let (write, gate, _) = held("write", ToolEffects::Write);
        let model = NotedModel::new(&turn_of(&["read", "write"]));
        let (spec, executor) = noted_agent(&model, &[read.clone(), write.clone()]);
        let stage = Stage::set(&format!("left-{by_restate}")).await;
        let _worker = stage.worker(&executor).await;
        let run = stage.start("left", &spec).await;
        until(async || (read.keys().len() + write.keys().len() == 2).then_some(())).await;
        if by_restate {
            stage.change(&run, "cancel").await;
        } else {
            stage.client.cancel(&run, None).await.unwrap();
        }
        until(async || (dropped.load(Ordering::SeqCst) == 1).then_some(())).await;
        // The write has a moment to report its end.
        gate.add_permits(1);
        let output = stage.wait(&run).await;
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        let events = stage.events(&run).await;
        let finished = events.iter().find_map(|event| match event {
            RunEvent::ToolFinished { tool, is_error, .. } if tool == "write" => Some(*is_error),
            _ => None,
        });
        assert_eq!(finished, Some(false), "what the write came to is recorded");
        assert_eq!(model.count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_whose_worker_is_lost_during_its_write_ends_and_does_not_know_what_became_of_it()
 {
    let (read, _, dropped) = held("read", ToolEffects::ReadOnly);
    let (write, gate, _) = held("write", ToolEffects::Write);
    let model = NotedModel::new(&turn_of(&["read", "write"]));
    let (spec, executor) = noted_agent(&model, &[read.clone(), write.clone()]);
    let stage = Stage::set("left-lost").await;
    let worker = stage.worker(&executor).await;
    let run = stage.start("left", &spec).await;
    until(async || (read.keys().len() + write.keys().len() == 2).then_some(())).await;
    stage.client.cancel(&run, None).await.unwrap();
    until(async || (dropped.load(Ordering::SeqCst) == 1).then_some(())).await;
    drop(worker);
    let _worker = stage.worker(&executor).await;
    gate.add_permits(2);
    let output = stage.wait(&run).await;
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    let events = stage.events(&run).await;
    let failure = events.iter().find_map(|event| match event {
        RunEvent::ToolFinished { tool, failure, .. } if tool == "write" => *failure,
        _ => None,
    });
    assert_eq!(failure, Some(FailureKind::OutcomeUnknown));
    assert_eq!(write.keys(), ["left:1:2"]);
    assert_eq!(model.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_worker_has_reads_made_again_and_the_outcome_of_writes_unknown() {
    let (read, read_gate, _) = held("read", ToolEffects::ReadOnly);
    let (write, _, _) = held("write", ToolEffects::Write);
    let model = NotedModel::new(&turn_of(&["read", "write"]));
    let (spec, executor) = noted_agent(&model, &[read.clone(), write.clone()]);
    let stage = Stage::set("lost-effects").await;
    let worker = stage.worker(&executor).await;
    let run = stage.start("lost", &spec).await;
    until(async || (read.keys().len() + write.keys().len() == 2).then_some(())).await;
    drop(worker);
    let _worker = stage.worker(&executor).await;
    happens(&stage, &run, finished("write")).await;
    until(async || (read.keys().len() == 2).then_some(())).await;
    read_gate.add_permits(2);
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(read.keys(), ["lost:1:1", "lost:1:1"]);
    assert_eq!(write.keys(), ["lost:1:2"]);
    let seen = model.last_message().to_string();
    assert!(seen.contains("may or may not have taken effect"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_flight_goes_on_when_the_server_is_lost_and_is_joined_when_it_is_back() {
    let (read, read_gate, _) = held("read", ToolEffects::ReadOnly);
    let (write, write_gate, _) = held("write", ToolEffects::Write);
    let (other, other_gate, _) = held("other", ToolEffects::ReadOnly);
    let model = NotedModel::new(&turn_of(&["read", "write", "other"]));
    let tools = [read.clone(), write.clone(), other.clone()];
    let (spec, executor) = noted_agent(&model, &tools);
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let stage = Stage::on(Arc::new(server), "joined");
    let _worker = stage.worker(&executor).await;
    let run = stage.start("joined", &spec).await;
    let made = || tools.iter().map(|tool| tool.keys().len()).sum::<usize>();
    until(async || (made() == 3).then_some(())).await;
    let mut server = Arc::into_inner(stage.server).expect("nobody else holds the server");
    let server = tokio::task::spawn_blocking(move || {
        server.kill_and_restart();
        server
    });
    // These end while no invocation waits for them.
    read_gate.add_permits(1);
    write_gate.add_permits(1);
    let stage = Stage::on(Arc::new(server.await.unwrap()), "joined");
    happens(&stage, &run, finished("write")).await;
    other_gate.add_permits(1);
    let output = stage.wait(&run).await;
    assert_eq!(output.state, RunPhase::Completed);
    let seen = model.last_message().to_string();
    assert_eq!(seen.matches("open").count(), 3, "{seen}");
    assert_eq!(made(), 3);
    assert_eq!(model.count(), 2);
}
