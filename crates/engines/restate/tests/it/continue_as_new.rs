//! Runs that continue as new.

use std::collections::BTreeSet;

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_harness::until;
use neuron_testing::{NotedModel, NotedTool, decision, noted_agent, run_locally};
use neuron_types::{ExitReason, RunEvent, RunPhase, ToolEffects, ToolOutput, UserMessage, Verdict};
use serde_json::{Value, json};

use crate::{
    journals::{Journal, journals, read, turns, unlimited},
    lost_workers::in_call_order,
    stage::Stage,
};

fn messages(events: &[RunEvent]) -> Vec<&str> {
    let texts = events.iter().filter_map(|event| match event {
        RunEvent::MessageReceived { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_two_thousand_turns_is_one_run_in_journals_that_are_all_short() {
    const TURNS: usize = 2_000;
    let read = read(100);
    let model = NotedModel::new(&turns(TURNS, "read"));
    let (spec, executor) = noted_agent(&model, std::slice::from_ref(&read));
    let stage = Stage::set("two-thousand").await;
    let _worker = stage.worker(&executor).await;
    let since = std::time::Instant::now();
    let run = stage.start("long", &unlimited(spec)).await;
    let output = stage.wait_at_length(&run).await;
    println!("{TURNS} turns took {:?}", since.elapsed());
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(output.turns, TURNS as u32);
    assert_eq!(model.count(), TURNS);
    let keys: BTreeSet<String> = read.keys().into_iter().collect();
    assert_eq!(keys.len(), TURNS - 1);
    assert_eq!(read.keys().len(), TURNS - 1);

    let journals = journals(&stage, &run, None).await;
    println!("{journals:#?}");
    assert!(journals.len() >= 5, "{} journals", journals.len());
    let fits = |journal: &Journal| journal.entries <= 2_000 && journal.bytes < 8 * 1024 * 1024;
    assert!(journals.iter().all(fits), "{journals:?}");

    let status = stage.client.status(&run).await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
    assert_eq!(status.turn, TURNS as u32);
    let since = std::time::Instant::now();
    let events = stage.events(&run).await;
    println!("{} events took {:?}", events.len(), since.elapsed());
    let started = |event: &&RunEvent| matches!(event, RunEvent::TurnStarted { .. });
    assert_eq!(events.iter().filter(started).count(), TURNS);
    let before = events.len() as u64 - 3;
    let tail = stage.client.events_after(&run, before).await;
    assert_eq!(tail.unwrap().len(), 3);
    let page = PageRequest::first(10);
    let listed = stage.client.list(&RunFilter::all(), page).await;
    assert_eq!(listed.unwrap().runs, [status]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_is_torn_apart_loses_nothing_and_does_nothing_twice() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "write", "input": {"text": "one"}},
            {"name": "asked", "input": {"text": "two"}},
        ]},
        {"tool_calls": [{"name": "write", "input": {"text": "three"}}]},
        {"text": "Done."},
    ]});
    let write = |name| {
        NotedTool::new(name, ToolEffects::Write, |_| async {
            Ok(ToolOutput::text("written"))
        })
    };
    let (done, asked) = (write("write"), write("asked"));
    let model = NotedModel::new(&script);
    let (mut spec, executor) = noted_agent(&model, &[done.clone(), asked.clone()]);
    spec.approvals.approve = vec!["asked".into()];
    let stage = Stage::set("torn").await;
    let worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(1))
        .await;
    let run = stage.start("torn", &spec).await;
    let tickets = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let tickets = tickets.approvals;
    until(async || (done.keys().len() == 1).then_some(())).await;
    stage
        .client
        .send(&run, UserMessage::new("And this."))
        .await
        .unwrap();
    stage
        .client
        .signal(&run, "weather", json!("fine"))
        .await
        .unwrap();
    // The journal that waits was begun after the write was made.
    until(async || (journals(&stage, &run, None).await.len() >= 3).then_some(())).await;
    assert_eq!(stage.client.status(&run).await.unwrap().approvals, tickets);
    // The worker that continues has other settings.
    drop(worker);
    let worker = stage.worker(&executor).await;
    drop(worker);
    let _worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(1))
        .await;
    let approval = decision(&tickets[0], Verdict::Approve);
    stage.client.decide(&run, &approval).await.unwrap();
    let output = stage.wait(&run).await;
    assert_eq!(output.output.as_deref(), Some("Done."));
    assert_eq!(done.keys(), ["torn:1:1", "torn:2:1"]);
    assert_eq!(asked.keys(), ["torn:1:2"]);
    assert_eq!(model.count(), 3);
    let events = stage.events(&run).await;
    assert_eq!(messages(&events), ["And this."]);
    let decided = |event: &&RunEvent| matches!(event, RunEvent::ApprovalDecided { .. });
    assert_eq!(events.iter().filter(decided).count(), 1);
    let (status, answer) = stage
        .post(
            &run,
            "approve",
            &serde_json::to_value(answer_of(&approval)).unwrap(),
        )
        .await;
    assert_eq!(status, 409, "{answer}");
}

fn answer_of(decision: &neuron_types::Decision) -> Value {
    json!({"ticket": decision.ticket, "digest": decision.digest})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_in_a_journal_for_each_step_is_the_run_that_it_is_in_one() {
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "write", "input": {"text": "two"}},
            {"name": "nothing", "input": {}},
        ], "usage": {"input_tokens": 10, "output_tokens": 5}, "cost_usd": "0.01"},
        {"tool_calls": [{"name": "write", "input": {"text": "three"}}], "cost_usd": "0.02"},
        {"text": "Done.", "usage": {"input_tokens": 20, "output_tokens": 1}, "cost_usd": "0.03"},
    ]});
    let tools = [
        NotedTool::echo(ToolEffects::ReadOnly),
        NotedTool::new("write", ToolEffects::Write, |_| async {
            Ok(ToolOutput::text("written"))
        }),
    ];
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &tools);
    let (local, local_events) = run_locally(&spec, &executor).await;
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &tools);
    let stage = Stage::set("each-step").await;
    let _worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(1))
        .await;
    let run = stage.start("same", &spec).await;
    let output = stage.wait(&run).await;
    let events = in_call_order(stage.events(&run).await);
    assert_eq!(events, in_call_order(local_events));
    assert_eq!(output.usage, local.usage);
    assert_eq!(output.cost_usd, local.cost_usd);
    // Three model calls, two turns of tool calls, and the end.
    assert_eq!(journals(&stage, &run, None).await.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_sent_while_a_run_continues_as_new_all_arrive_in_order() {
    let (tool, gate) = NotedTool::gate();
    let mut script = turns(40, "read");
    script["turns"][38] = json!({"tool_calls": [{"name": "gate", "input": {}}]});
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &[read(10), tool]);
    let stage = Stage::set("rolling-signals").await;
    let _worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(30))
        .await;
    let run = stage.begin("run", &unlimited(spec)).await;
    let texts: Vec<String> = (0..40).map(|n| format!("message {n:02}")).collect();
    for text in &texts {
        stage
            .client
            .send(&run, UserMessage::new(text))
            .await
            .unwrap();
        let weather = stage.client.signal(&run, "weather", json!(text)).await;
        weather.unwrap();
    }
    gate.add_permits(1);
    stage.wait(&run).await;
    let journals = journals(&stage, &run, None).await.len();
    println!("{journals} journals");
    assert!(journals >= 8, "{journals}");
    assert_eq!(messages(&stage.events(&run).await), texts);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_run_is_cancelled_by_its_handler_and_by_restate() {
    for (run, by_restate) in [("by-handler", false), ("by-restate", true)] {
        let script = json!({"turns": [
            {"tool_calls": [{"name": "read", "input": {}}]},
            {"text": "late", "delay_ms": 86_400_000}, // Nothing ends by it.
        ]});
        let model = NotedModel::new(&script);
        let (spec, executor) = noted_agent(&model, &[read(10)]);
        let stage = Stage::set(&format!("rolled-{run}")).await;
        let _worker = stage
            .worker_with(&executor, |services| services.continue_as_new_after(1))
            .await;
        let run = stage.start(run, &spec).await;
        until(async || (model.count() == 2).then_some(())).await;
        if by_restate {
            stage.change(&run, "cancel").await;
        } else {
            let reason = Some("enough".to_owned());
            stage.client.cancel(&run, reason).await.unwrap();
        }
        // Its model call would continue for a day.
        let output = stage.wait(&run).await;
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        let status = stage.client.status(&run).await.unwrap();
        assert_eq!(status.state, RunPhase::Cancelled);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_restate_cancels_while_it_continues_as_new_ends_as_cancelled_runs_do() {
    let model = NotedModel::new(&turns(400, "read"));
    let (spec, executor) = noted_agent(&model, &[read(10)]);
    let spec = unlimited(spec);
    let stage = Stage::set("cancel-rolling").await;
    let _worker = stage
        .worker_with(&executor, |services| services.continue_as_new_after(1))
        .await;
    for n in 0..8 {
        let before = model.count();
        let run = stage.start(&format!("run-{n}"), &spec).await;
        until(async || (model.count() >= before + 2).then_some(())).await;
        stage.change(&run, "cancel").await;
        let output = stage.wait(&run).await;
        assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
        let status = stage.client.status(&run).await.unwrap();
        assert_eq!(status.state, RunPhase::Cancelled);
        let ended = stage.events(&run).await.pop();
        assert!(
            matches!(ended, Some(RunEvent::RunEnded { .. })),
            "{ended:?}"
        );
    }
}
