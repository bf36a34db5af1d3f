//! Workers that are lost again and again, wherever a run is.

use std::collections::BTreeSet;

use neuron_harness::until;
use neuron_patience::Dice;
use neuron_testing::{Moment, NotedModel, NotedTool, Turnstile, noted_agent, run_locally};
use neuron_types::{FailureKind, RunEvent, RunPhase, ToolEffects, ToolOutput};
use serde_json::{Value, json};

use crate::stage::Stage;

pub(crate) const TURNS: usize = 12;

/// How many workers are lost. Restate waits longer after each.
pub(crate) const LOSSES: usize = 6;

/// The most calls of a worker that end before it is lost. The script has enough for all workers.
pub(crate) const MOST_CALLS: usize = 3;

/// Turns with a read alone, a write alone, and three calls beside each other.
pub(crate) fn script() -> Value {
    let mut turns: Vec<Value> = (1..TURNS)
        .map(|turn| {
            let call = |name: &str, n: usize| {
                json!({"name": name, "input": {"text": format!("{turn}.{n}")}})
            };
            let calls = match turn % 3 {
                0 => vec![call("read", 1)],
                1 => vec![call("write", 1)],
                _ => vec![call("read", 1), call("write", 2), call("read", 3)],
            };
            json!({"tool_calls": calls})
        })
        .collect();
    turns.push(json!({"text": "Done."}));
    json!({ "turns": turns })
}

pub(crate) fn tools() -> [NotedTool; 2] {
    let tool = |name, effects| {
        NotedTool::new(name, effects, |input: Value| async move {
            Ok(ToolOutput::text(input["text"].as_str().unwrap_or_default()))
        })
    };
    [
        tool("read", ToolEffects::ReadOnly),
        tool("write", ToolEffects::Write),
    ]
}

/// Returns the events with the ends of parallel calls in the order of the calls: they end in any order. The nonce is
/// left out, because every run has its own.
pub(crate) fn in_call_order(mut events: Vec<RunEvent>) -> Vec<RunEvent> {
    let call = |event: &RunEvent| match event {
        RunEvent::ToolFinished { call_id, .. } => Some(call_id.clone()),
        _ => None,
    };
    for ends in events.chunk_by_mut(|one, next| call(one).is_some() && call(next).is_some()) {
        ends.sort_by_key(call);
    }
    for event in &mut events {
        if let RunEvent::RunStarted { nonce, .. } = event {
            *nonce = None;
        }
    }
    events
}

/// Returns the events without what differs when a write's outcome is unknown.
pub(crate) fn course(events: Vec<RunEvent>) -> Vec<Value> {
    let events = in_call_order(events).into_iter();
    let values = events.map(|event| serde_json::to_value(event).unwrap());
    values
        .map(|mut event| {
            let fields = event.as_object_mut().unwrap();
            fields.remove("is_error");
            fields.remove("failure");
            event
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_as_if_none_had_been_lost_and_no_write_is_made_twice() {
    let (spec, executor) = noted_agent(&NotedModel::new(&script()), &tools());
    let (local, local_events) = run_locally(&spec, &executor).await;

    let mut dice = Dice::of_test("a_run_ends_as_if_none_had_been_lost");
    let turnstile = Turnstile::default();
    let [read, write] = tools().map(|tool| tool.behind(&turnstile));
    let model = NotedModel::new(&script()).behind(&turnstile);
    let (spec, executor) = noted_agent(&model, &[read.clone(), write.clone()]);
    let stage = Stage::set("lost").await;
    let mut moment = Moment::drawn(&mut dice, MOST_CALLS);
    turnstile.close_for(moment);
    let mut worker = stage.worker(&executor).await;
    let run = stage.start("lost", &spec).await;
    for _ in 0..LOSSES {
        turnstile.reached(moment).await;
        drop(worker);
        turnstile.emptied().await;
        moment = Moment::drawn(&mut dice, MOST_CALLS);
        turnstile.close_for(moment);
        worker = stage.worker(&executor).await;
    }
    turnstile.open();
    let _worker = worker;
    let output = stage.wait(&run).await;
    assert_eq!(output.state, RunPhase::Completed);
    assert_eq!(output.output, local.output);
    assert_eq!(output.turns, local.turns);
    assert_eq!(course(stage.events(&run).await), course(local_events));
    write.assert_no_call_again();
    let reads: BTreeSet<String> = read.keys().into_iter().collect();
    let steps = (1..TURNS).map(|turn| match turn % 3 {
        0 => 1,
        1 => 0,
        _ => 2,
    });
    assert_eq!(reads.len(), steps.sum::<usize>(), "{reads:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_ends_ten_workers_in_a_row_is_made_no_more() {
    const MOST: usize = 10;
    // The model never answers.
    let model = NotedModel::hanging();
    let (spec, executor) = noted_agent(&model, &tools());
    let stage = Stage::set("lost").await;
    let run = {
        let _worker = stage.worker(&executor).await;
        let run = stage.start("ends-workers", &spec).await;
        until(async || (model.count() == 1).then_some(())).await;
        run
    };
    for lost in 1..MOST {
        let _worker = stage.worker(&executor).await;
        until(async || (model.count() > lost).then_some(())).await;
    }
    let _worker = stage.worker(&executor).await;
    let output = stage.wait(&run).await;
    assert_eq!(output.state, RunPhase::Failed);
    let error = output.error.unwrap();
    assert_eq!(error.kind, FailureKind::WorkerLost, "{error:?}");
    assert_eq!(model.count(), MOST);
}
