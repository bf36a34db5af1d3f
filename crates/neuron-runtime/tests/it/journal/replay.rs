//! Any sequence of door calls, with the process dying between any two of them, comes to the same.

use std::time::Duration;

use neuron_loop::AgentMachine;
use neuron_runtime::JournaledContext;
use neuron_types::{DurableContext, FailureKind, RetryPolicy, RunEvent, RunStart, RunState};
use proptest::prelude::*;
use serde_json::json;

use super::{World, input, plain_output};
use crate::room::{Act, Room, call, describe, model_options, options, request};

/// One call of the door.
#[derive(Debug, Clone)]
enum Op {
    Ask,
    Call(&'static str),
    Batch(Vec<&'static str>),
    Sleep(u64),
    Poll(&'static str),
    Wait(&'static str),
    Emit,
    Uuid,
    RollOver,
}

fn tool() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec!["read", "put", "write"])
}

fn signal_name() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec!["a", "b"])
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => Just(Op::Ask),
        3 => tool().prop_map(Op::Call),
        2 => proptest::collection::vec(tool(), 0..4).prop_map(Op::Batch),
        1 => (0..3_u64).prop_map(Op::Sleep),
        2 => signal_name().prop_map(Op::Poll),
        1 => signal_name().prop_map(Op::Wait),
        3 => Just(Op::Emit),
        1 => Just(Op::Uuid),
        1 => Just(Op::RollOver),
    ]
}

/// What the model and the tools do, call by call.
fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Answer),
        1 => Just(Act::fail(FailureKind::ToolFailed)),
        1 => Just(Act::fail(FailureKind::InvalidRequest)),
        1 => Just(Act::fail(FailureKind::Unavailable)),
    ]
}

/// Performs one operation and says what came of it.
async fn perform(door: &JournaledContext, number: u32, op: &Op) -> String {
    let turn = number + 1;
    let quick = |name: &str, position| {
        let retry_policy = RetryPolicy {
            maximum_attempts: 2,
            initial_interval: Duration::ZERO,
            ..RetryPolicy::default()
        };
        neuron_types::ActivityOptions {
            retry_policy,
            ..options(name, turn, position)
        }
    };
    match op {
        Op::Ask => {
            let options = quick("model", 0);
            let messages = request(usize::try_from(turn).unwrap());
            format!("{:?}", door.execute_llm_call(&messages, &options).await)
        }
        Op::Call(name) => {
            let options = quick(name, 1);
            format!("{:?}", door.execute_tool(&call(name), &options).await)
        }
        Op::Batch(names) => {
            let calls: Vec<_> = names.iter().map(|name| call(name)).collect();
            let each: Vec<_> = names
                .iter()
                .zip(1..)
                .map(|(name, n)| quick(name, n))
                .collect();
            format!("{:?}", door.execute_tools(&calls, &each).await)
        }
        Op::Sleep(millis) => format!("{:?}", door.sleep(Duration::from_millis(*millis)).await),
        Op::Poll(name) => {
            let poll = Some(Duration::ZERO);
            format!("{:?}", door.wait_for_signal::<u32>(name, poll).await)
        }
        Op::Wait(name) => {
            let soon = Some(Duration::from_millis(1));
            format!("{:?}", door.wait_for_signal::<u32>(name, soon).await)
        }
        Op::Emit => {
            door.emit(RunEvent::TurnStarted { turn });
            String::new()
        }
        Op::Uuid => door.uuid().to_string(),
        Op::RollOver => format!("{:?}", door.continue_as_new(&behind(number + 1)).await),
    }
}

/// A state that says how many operations are done.
fn behind(operations: u32) -> RunState {
    let machine = AgentMachine::new(input(), chrono::DateTime::UNIX_EPOCH);
    RunState {
        turn: operations,
        ..machine.state().clone()
    }
}

struct Trace {
    /// What each operation came to, and the clock after it.
    results: Vec<(String, chrono::DateTime<chrono::Utc>)>,
    calls: Vec<String>,
    events: Vec<String>,
}

/// Runs the operations, dying after each of the first `deaths` of them, and each time starting anew.
async fn run(ops: &[Op], acts: &[Act], signals: &[&'static str], dies: bool) -> Trace {
    let world = World::with(Room::dealing(acts)).await;
    let journal = world.journal().await;
    for (number, name) in signals.iter().enumerate() {
        journal
            .signal(&world.run_id, name, json!(number))
            .await
            .unwrap();
    }
    let first = if dies { 0 } else { ops.len() };
    let mut seen: Vec<(String, chrono::DateTime<chrono::Utc>)> = Vec::new();
    for until in first..=ops.len() {
        let door = world.door().await;
        let done = match door.start().await.unwrap() {
            RunStart::New(_) => 0,
            RunStart::Continued(state) => usize::try_from(state.turn).unwrap(),
        };
        for (number, op) in ops.iter().take(until).enumerate().skip(done) {
            let came = perform(&door, u32::try_from(number).unwrap(), op).await;
            let result = (came, door.now());
            match seen.get(number) {
                Some(before) => assert_eq!(*before, result, "operation {number}: {op:?}"),
                None => seen.push(result),
            }
        }
        if until == ops.len() {
            door.finish(&plain_output(&world.run_id)).await.unwrap();
        }
    }
    let mut calls = world.room.calls();
    calls.sort();
    let events = journal.events(&world.run_id, 0).await.unwrap();
    Trace {
        results: seen,
        calls,
        events: describe(&events),
    }
}

/// The two ways in which the journal gets to the disk: in place, and on a thread of its own.
fn runtimes() -> [tokio::runtime::Runtime; 2] {
    let mut one_thread = tokio::runtime::Builder::new_current_thread();
    let mut many_threads = tokio::runtime::Builder::new_multi_thread();
    [&mut one_thread, many_threads.worker_threads(1)].map(|b| b.enable_all().build().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn comes_to_the_same_wherever_the_process_dies(
        ops in proptest::collection::vec(op(), 1..9),
        acts in proptest::collection::vec(act(), 0..12),
        signals in proptest::collection::vec(signal_name(), 0..4),
    ) {
        let [one, other] = runtimes();
        let undisturbed = one.block_on(run(&ops, &acts, &signals, false));
        let dying = other.block_on(run(&ops, &acts, &signals, true));
        prop_assert_eq!(undisturbed.calls, dying.calls);
        prop_assert_eq!(undisturbed.events, dying.events);
        for (one, other) in undisturbed.results.iter().zip(&dying.results) {
            prop_assert_eq!(&one.0, &other.0);
        }
    }
}

#[tokio::test]
async fn of_a_long_run_dies_at_every_step_and_repeats_none() {
    let world = World::new().await;
    let turns: u32 = 20;
    for dies_after in 0..=turns {
        let door = world.door().await;
        for turn in 1..=dies_after {
            door.emit(RunEvent::TurnStarted { turn });
            let messages = usize::try_from(turn).unwrap();
            door.execute_llm_call(&request(messages), &model_options(turn))
                .await
                .unwrap();
            let each = [options("write", turn, 1), options("read", turn, 2)];
            let results = door
                .execute_tools(&[call("write"), call("read")], &each)
                .await;
            assert!(results.iter().all(Result::is_ok));
            door.emit(RunEvent::TurnEnded { turn });
        }
        if dies_after == turns {
            door.finish(&plain_output(&world.run_id)).await.unwrap();
        }
    }
    let mut calls = world.room.calls();
    assert_eq!(calls.len(), 60);
    calls.sort();
    calls.dedup();
    assert_eq!(calls.len(), 60, "each once");
    let events = world
        .journal()
        .await
        .events(&world.run_id, 0)
        .await
        .unwrap();
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=40).collect::<Vec<u64>>());
}
