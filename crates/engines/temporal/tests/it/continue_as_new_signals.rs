//! What reaches a run while it moves from history to history.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_harness::until;
use neuron_testing::{Moment, NotedModel, NotedTool, Turnstile, decision, noted_agent};
use neuron_types::{ContentBlock, Message, RunPhase, ToolEffects, UserMessage, Verdict, signal};
use serde_json::{Value, json};

use crate::{
    continue_as_new::{read, script, without_limits},
    stage::Stage,
};

/// Returns the notes that people wrote into the conversation, in order.
fn notes(conversation: &[Message]) -> Vec<String> {
    let blocks = conversation.iter().flat_map(|message| &message.content);
    let texts = blocks.filter_map(|block| match block {
        ContentBlock::Text(text) if text.starts_with("note ") => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_and_messages_sent_without_pause_all_arrive_in_order() {
    const TURNS: usize = 100;
    let stage = Stage::set().await;
    let mut script = script(TURNS);
    // The last call before the answer lets the run continue when all are sent.
    script["turns"][TURNS - 2] = json!({"tool_calls": [{"name": "gate", "input": {}}]});
    let (tool, gate) = NotedTool::gate();
    let tools = [read("ok".to_owned()), tool];
    let (spec, executor) = noted_agent(&NotedModel::new(&script), &tools);
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(40));
    let run = stage.start("signalled", &without_limits(&spec)).await;
    let sent: Vec<String> = (0..100).map(|n| format!("note {n}")).collect();
    for (number, text) in sent.iter().enumerate() {
        let result = if number % 2 == 0 {
            let payload = json!({ "text": text });
            stage
                .client
                .signal(&run, signal::USER_MESSAGE, payload)
                .await
        } else {
            let message = UserMessage { text: text.clone() };
            stage.client.send(&run, message).await
        };
        result.unwrap();
    }
    gate.add_permits(1);
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.state, RunPhase::Completed, "{output:?}");
    let histories = stage.histories(&run).await;
    println!("{} messages in {} histories", sent.len(), histories.len());
    assert!(histories.len() >= 5, "{histories:?}");
    let conversation = stage.client.conversation(&run).await.unwrap();
    assert_eq!(notes(&conversation), sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_that_is_made_again_in_the_next_history_is_accepted_and_taken_once() {
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "echo", "input": {"text": "one"}},
            {"name": "echo", "input": {"text": "two"}},
        ]},
        {"text": "Done."},
    ]});
    let echo = NotedTool::echo(ToolEffects::Write);
    let (mut spec, executor) = noted_agent(&NotedModel::new(&script), std::slice::from_ref(&echo));
    spec.approvals.approve = vec!["echo".into()];
    let stage = Stage::set().await;
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    let run = stage.start("decided", &spec).await;
    let status = stage.reaches(&run, RunPhase::WaitingForApproval).await;
    let first = decision(&status.approvals[0], Verdict::Approve);
    let before = stage.histories(&run).await.len();
    stage.client.decide(&run, &first.clone()).await.unwrap();
    until(async || (stage.histories(&run).await.len() > before).then_some(())).await;
    stage.client.decide(&run, &first.clone()).await.unwrap();
    let other = neuron_types::Decision {
        comment: Some("on second thoughts".into()),
        ..first
    };
    let refused = stage.client.decide(&run, &other).await.unwrap_err();
    assert!(refused.to_string().contains("decided already"), "{refused}");
    let second = decision(&status.approvals[1], Verdict::Approve);
    stage.client.decide(&run, &second).await.unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(echo.keys(), ["decided:1:1", "decided:1:2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_from_history_to_history_is_cancelled() {
    let stage = Stage::set().await;
    // The run is held after some calls: it must not have ended when it is cancelled.
    let turnstile = Turnstile::default();
    let moment = Moment::InCall { after: 8 };
    turnstile.close_for(moment);
    let model = NotedModel::new(&script(1_000)).behind(&turnstile);
    let (spec, executor) = noted_agent(&model, &[read("ok".to_owned()).behind(&turnstile)]);
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(1));
    let run = stage.start("cancelled", &without_limits(&spec)).await;
    turnstile.reached(moment).await;
    assert!(stage.histories(&run).await.len() >= 3);
    stage
        .client
        .cancel(&run, Some("enough".into()))
        .await
        .unwrap();
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.state, RunPhase::Cancelled, "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_with_other_marks_and_without_memory_take_turns() {
    const TURNS: usize = 60;
    let stage = Stage::set().await;
    let model = NotedModel::new(&script(TURNS));
    // Each worker but the last makes a part of the calls and is stopped while the next call is held.
    let turnstile = Turnstile::default();
    let moment = Moment::InCall {
        after: 2 * TURNS / 4,
    };
    let model = model.behind(&turnstile);
    let tool = read("ok".to_owned()).behind(&turnstile);
    let (spec, executor) = noted_agent(&model, std::slice::from_ref(&tool));
    let run = stage.start("in-turns", &without_limits(&spec)).await;
    for part in 1..=3 {
        let after = if part % 2 == 0 { 30 } else { 60 };
        turnstile.close_for(moment);
        let _worker = stage.worker_with(&executor, move |builder| {
            builder
                .continue_as_new_after(after)
                .cached_runs(0)
                .transcript_cache_bytes(0)
                .grace(Duration::ZERO)
        });
        turnstile.reached(moment).await;
    }
    turnstile.open();
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(20));
    let output = stage.client.wait_for_end(&run).await.unwrap();
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert!(stage.histories(&run).await.len() >= 5);
    stage.replays_all(&run).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_has_a_run_once_and_no_events_are_lost_between_histories() {
    let stage = Stage::set().await;
    let (spec, executor) = noted_agent(&NotedModel::new(&script(40)), &[read("ok".to_owned())]);
    let _worker = stage.worker_with(&executor, |builder| builder.continue_as_new_after(30));
    let run = stage.start("followed", &without_limits(&spec)).await;
    let waiting = stage.client.wait_for_end(&run);
    let ended = Arc::new(AtomicBool::new(false));
    let following = async {
        let mut seen = 0;
        loop {
            let is_over = ended.load(Ordering::Relaxed);
            for event in stage.client.events_after(&run, seen).await.unwrap() {
                assert_eq!(event.seq, seen + 1);
                seen = event.seq;
            }
            stage.client.status(&run).await.unwrap();
            stage.client.conversation(&run).await.unwrap();
            if is_over {
                return seen;
            }
        }
    };
    let ending = async {
        let output = waiting.await.unwrap();
        ended.store(true, Ordering::Relaxed);
        output
    };
    let (seen, output) = futures::future::join(following, ending).await;
    assert_eq!(output.output.as_deref(), Some("Done."), "{output:?}");
    assert_eq!(
        seen as usize,
        stage.client.events_after(&run, 0).await.unwrap().len()
    );
    assert!(stage.histories(&run).await.len() >= 4);
    let listed = until(async || {
        let page = PageRequest::first(10);
        let runs = stage.client.list(&RunFilter::all(), page).await;
        let runs = runs.unwrap().runs;
        runs.iter().all(|run| run.state.is_final()).then_some(runs)
    })
    .await;
    assert_eq!(listed.len(), 1, "{listed:?}");
    let value: Value = json!(listed[0].run_id);
    assert_eq!(value, "followed");
}
