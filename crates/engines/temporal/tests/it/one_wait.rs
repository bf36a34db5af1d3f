//! What a run processes while something of it is in flight.

use std::{sync::Arc, time::Duration};

use neuron_engine::RunClient as _;
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent};
use neuron_types::{
    ContentBlock, ContentItem, ExitReason, Message, Placement, RecordedEvent, RunEvent, RunId,
    ToolEffects, ToolOutput, ToolSettings, UserMessage, Verdict,
};
use serde_json::{Value, json};
use temporalio_common::protos::temporal::api::enums::v1::EventType;
use tokio::sync::Semaphore;

use crate::{stage::Stage, ui};

/// Returns a tool `gate` with these effects; a call takes a permit and answers.
fn gate(effects: ToolEffects) -> (NotedTool, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(0));
    let taken = Arc::clone(&permits);
    let tool = NotedTool::new("gate", effects, move |_| {
        let permits = Arc::clone(&taken);
        async move {
            permits.acquire().await.unwrap().forget();
            Ok(ToolOutput::text("open"))
        }
    });
    (tool, permits)
}

/// Returns a script of a turn with these calls, without arguments, and an answer.
fn script(tools: &[&str]) -> Value {
    let calls: Vec<_> = tools
        .iter()
        .map(|name| json!({"name": name, "input": {"text": name}}))
        .collect();
    json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]})
}

/// Waits until one of the run's events matches, and returns them all.
async fn shows(
    stage: &Stage,
    run: &RunId,
    is_it: impl Fn(&RunEvent) -> bool,
) -> Vec<RecordedEvent> {
    until(async || {
        let events = stage.client.events_after(run, 0).await.ok()?;
        let is_there = events.iter().any(|recorded| is_it(&recorded.event));
        is_there.then_some(events)
    })
    .await
}

fn is_finished(tool: &'static str) -> impl Fn(&RunEvent) -> bool {
    move |event| matches!(event, RunEvent::ToolFinished { tool: finished, .. } if finished == tool)
}

fn is_called(tool: &'static str) -> impl Fn(&RunEvent) -> bool {
    move |event| matches!(event, RunEvent::ToolCalled { tool: called, .. } if called == tool)
}

fn is_message(event: &RunEvent) -> bool {
    matches!(event, RunEvent::MessageReceived { .. })
}

fn is_there(events: &[RecordedEvent], is_it: impl Fn(&RunEvent) -> bool) -> bool {
    events.iter().any(|recorded| is_it(&recorded.event))
}

/// Returns the number of the first event that matches.
fn place(events: &[RecordedEvent], is_it: impl Fn(&RunEvent) -> bool) -> u64 {
    let found = events.iter().find(|recorded| is_it(&recorded.event));
    found.unwrap_or_else(|| panic!("{events:#?}")).seq
}

/// Returns how many events of this type the run's newest history has.
async fn count(stage: &Stage, run: &RunId, kind: EventType) -> usize {
    let events = ui::events(stage, run).await;
    let of_kind = events.iter().filter(|event| event.event_type() == kind);
    of_kind.count()
}

fn results(conversation: &[Message]) -> Vec<String> {
    let blocks = conversation.iter().flat_map(|message| &message.content);
    let texts = blocks.filter_map(|block| match block {
        ContentBlock::ToolResult(result) => result.content.first(),
        _ => None,
    });
    texts
        .map(|item| match item {
            ContentItem::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

async fn send(stage: &Stage, run: &RunId, text: &str) {
    let text = text.into();
    stage.client.send(run, UserMessage { text }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_starts_while_its_neighbour_runs() {
    let (tool, permits) = NotedTool::gate();
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script(&["gate", "echo"]));
    let (mut spec, executor) = noted_agent(&model, &[tool.clone(), echo.clone()]);
    spec.approvals.approve = vec!["echo".into()];
    // Short enough for a local call, if there were no ticket.
    let short = ToolSettings {
        timeout: Some(Duration::from_secs(5)), // An attempt at a read that it ends is made again.
        ..ToolSettings::default()
    };
    spec.tool_settings.insert("gate".into(), short);
    spec.retry.maximum_attempts = 20;
    let stage = Stage::set().await;
    // Every task is a replay.
    let _worker = stage.worker_with(&executor, |builder| builder.cached_runs(0));
    let run = stage.start("approved-beside", &spec).await;
    until(async || (!tool.keys().is_empty()).then_some(())).await;
    let tickets = until(async || {
        let status = stage.client.status(&run).await.ok()?;
        (!status.approvals.is_empty()).then_some(status.approvals)
    })
    .await;
    let approval = decision(&tickets[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let events = shows(&stage, &run, is_finished("echo")).await;
    assert!(!is_there(&events, is_finished("gate")), "{events:#?}");
    permits.add_permits(1);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(echo.keys(), ["approved-beside:1:2"]);
    let conversation = stage.client.conversation(&run).await.unwrap();
    assert_eq!(results(&conversation), ["open", "echo"]);
    let scheduled = count(&stage, &run, EventType::ActivityTaskScheduled).await;
    // Three of the model's or of tools that wait, the approved call, and the verification of the decision.
    assert_eq!(scheduled, 5, "a call was local while a ticket was open");
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denial_and_a_message_take_effect_before_the_effects_in_flight_end() {
    let (tool, permits) = gate(ToolEffects::Write);
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script(&["gate", "echo"]));
    let (mut spec, executor) = noted_agent(&model, &[tool.clone(), echo.clone()]);
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("denied-beside", &spec).await;
    until(async || (!tool.keys().is_empty()).then_some(())).await;
    let tickets = stage.client.status(&run).await.unwrap().approvals;
    send(&stage, &run, "And more.").await;
    let denial = decision(&tickets[0], Verdict::Deny);
    stage.client.decide(&run, &denial).await.unwrap();
    let events = shows(&stage, &run, is_finished("echo")).await;
    assert!(place(&events, is_message) < place(&events, is_finished("echo")));
    assert!(!is_there(&events, is_finished("gate")), "{events:#?}");
    permits.add_permits(1);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(echo.keys(), [""; 0]);
    // The model read it with the results.
    let conversation = stage.client.conversation(&run).await.unwrap();
    let text = json!(conversation).to_string();
    assert!(text.contains("And more."), "{text}");
    assert_eq!(model.count(), 2);
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_taken_up_while_the_model_is_called() {
    let model = NotedModel::hanging();
    let (spec, executor) = noted_agent(&model, &[]);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("message-beside", &spec).await;
    until(async || (model.count() == 1).then_some(())).await;
    send(&stage, &run, "Hurry.").await;
    shows(&stage, &run, is_message).await;
    assert_eq!(*model.ended.lock().unwrap(), 0);
    stage.client.cancel(&run, None).await.unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_leaves_a_model_call_and_a_read_and_does_not_wait_for_their_ends() {
    let stage = Stage::set().await;
    let models = [
        ("left-model", NotedModel::hanging()),
        ("left-read", NotedModel::new(&script(&["gate"]))),
    ];
    for (run, model) in models {
        let (tool, _permits) = gate(ToolEffects::ReadOnly);
        let (spec, executor) = noted_agent(&model, std::slice::from_ref(&tool));
        let _worker = stage.worker(&executor);
        let run = stage.start(run, &spec).await;
        let is_model = run.as_str() == "left-model";
        let begun = || {
            if is_model {
                model.count()
            } else {
                tool.keys().len()
            }
        };
        until(async || (begun() == 1).then_some(())).await;
        stage.client.cancel(&run, None).await.unwrap();
        let output = stage.client.wait_for_end(&run).await.unwrap();
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        let asked = count(&stage, &run, EventType::ActivityTaskCancelRequested).await;
        let heard = count(&stage, &run, EventType::ActivityTaskCanceled).await;
        assert_eq!((asked, heard), (1, 0), "{run}");
        stage.replays(&run).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_waits_for_a_write_and_records_what_it_came_to() {
    let (write, permits) = gate(ToolEffects::Write);
    let look = NotedTool::new("look", ToolEffects::ReadOnly, |_| std::future::pending());
    let model = NotedModel::new(&script(&["look", "gate"]));
    let tools = [look, write];
    let (spec, executor) = noted_agent(&model, &tools);
    let stage = Stage::set().await;
    let _worker = stage.worker(&executor);
    let run = stage.start("waited-write", &spec).await;
    until(async || {
        tools
            .iter()
            .all(|tool| !tool.keys().is_empty())
            .then_some(())
    })
    .await;
    stage.client.cancel(&run, None).await.unwrap();
    until(async || {
        let asked = count(&stage, &run, EventType::ActivityTaskCancelRequested).await;
        (asked == 2).then_some(())
    })
    .await;
    let status = stage.client.status(&run).await.unwrap();
    assert!(status.check_open().is_ok(), "{status:?}");
    permits.add_permits(1);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    let events = stage.client.events_after(&run, 0).await.unwrap();
    let came_to = |tool: &str| {
        let mut ends = events.iter().filter_map(|recorded| match &recorded.event {
            RunEvent::ToolFinished {
                tool: finished,
                is_error,
                ..
            } if finished == tool => Some(*is_error),
            _ => None,
        });
        ends.next()
    };
    assert_eq!(came_to("gate"), Some(false), "{events:#?}");
    assert_eq!(came_to("look"), Some(true), "{events:#?}");
    stage.replays(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_due_end_of_the_segment_holds_back_no_approved_call() {
    let (tool, permits) = NotedTool::gate();
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script(&["gate", "echo"]));
    let (mut spec, executor) = noted_agent(&model, &[tool.clone(), echo.clone()]);
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    let run = stage.start("due-beside", &spec).await;
    until(async || (!tool.keys().is_empty()).then_some(())).await;
    let before = stage.histories(&run).await.len();
    let tickets = stage.client.status(&run).await.unwrap().approvals;
    let approval = decision(&tickets[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let events = shows(&stage, &run, is_finished("echo")).await;
    assert!(!is_there(&events, is_finished("gate")), "{events:#?}");
    assert_eq!(stage.histories(&run).await.len(), before);
    permits.add_permits(1);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert!(stage.histories(&run).await.len() > before);
    stage.replays_all(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_more_starts_in_a_segment_that_is_nearly_full() {
    let (tool, permits) = NotedTool::gate();
    let echo = NotedTool::echo(ToolEffects::Write);
    let model = NotedModel::new(&script(&["gate", "echo"]));
    let (mut spec, executor) = noted_agent(&model, &[tool.clone(), echo.clone()]);
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    let worker = stage.worker_with(&executor, |builder| {
        builder
            .history_limits(60, 50_000_000)
            .grace(Duration::from_secs(1)) // Only so that it does not take long.
    });
    let run = stage.start("full-beside", &spec).await;
    until(async || (!tool.keys().is_empty()).then_some(())).await;
    let mut messages = 0;
    while stage.history(&run).await.1 < 50 {
        messages += 1;
        send(&stage, &run, &format!("note {messages}")).await;
    }
    let tickets = stage.client.status(&run).await.unwrap().approvals;
    let approval = decision(&tickets[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    // The decision is verified in the next segment, because that is a step too.
    let events = stage.client.events_after(&run, 0).await.unwrap();
    assert!(!is_there(&events, is_called("echo")), "{events:#?}");
    // Another worker, with the usual limits, follows the history.
    drop(worker);
    let _worker = stage.worker(&executor);
    permits.add_permits(1);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(stage.histories(&run).await.len(), 2);
    let events = stage.client.events_after(&run, 0).await.unwrap();
    assert!(place(&events, is_finished("gate")) < place(&events, is_called("echo")));
    stage.replays_all(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_observes_in_the_order_in_which_the_run_did() {
    // The last call ends first, and then a message arrives while the first call is made.
    let (tool, permits) = gate(ToolEffects::ReadOnly);
    let look = NotedTool::new("look", ToolEffects::ReadOnly, |_| async {
        Ok(ToolOutput::text("seen"))
    });
    let stage = Stage::set().await;
    for (name, placement) in [
        ("local", Placement::Local),
        ("activity", Placement::Activity),
    ] {
        let model = NotedModel::new(&script(&["gate", "look"]));
        let (mut spec, executor) = noted_agent(&model, &[tool.clone(), look.clone()]);
        spec.activity.placement = Some(placement);
        let worker = stage.worker(&executor);
        let run = stage.start(&format!("in-order-{name}"), &spec).await;
        until(async || (!tool.keys().is_empty()).then_some(())).await;
        shows(&stage, &run, is_finished("look")).await;
        send(&stage, &run, "And more.").await;
        let events = shows(&stage, &run, is_message).await;
        assert!(!is_there(&events, is_finished("gate")), "{events:#?}");
        permits.add_permits(1);
        let output = stage.client.wait_for_end(&run).await.unwrap();
        assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
        let events = stage.client.events_after(&run, 0).await.unwrap();
        let places = [
            place(&events, is_finished("look")),
            place(&events, is_message),
            place(&events, is_finished("gate")),
        ];
        assert!(places.is_sorted(), "{events:#?}");
        drop(worker);
        let _worker = stage.worker(&executor);
        let again = stage.client.events_after(&run, 0).await.unwrap();
        let numbered = |events: Vec<RecordedEvent>| -> Vec<_> {
            let events = events.into_iter();
            events
                .map(|recorded| (recorded.seq, recorded.event))
                .collect()
        };
        assert_eq!(numbered(again), numbered(events));
        stage.replays(&run).await;
    }
}
