//! Any sequence of door calls has the same results if the process dies between any two of them.

use std::time::Duration;

use neuron_local::JournaledContext;
use neuron_loop::AgentMachine;
use neuron_testing::door::execute_tools;
use neuron_types::{
    ActivityOptions, DurableContext, Effect, FailureKind, Handle, RetryPolicy, RunEvent, RunStart,
    RunState, Started,
};
use proptest::prelude::*;
use serde_json::json;

use super::{World, input, plain_output};
use crate::room::{Act, Room, call, describe, model_options, options, request};

const MILLISECOND: Duration = Duration::from_millis(1); // What follows is the same however long it takes.
const HOUR: Duration = Duration::from_secs(3600); // No test lives to see it.

/// One call of the door.
#[derive(Debug, Clone)]
enum Op {
    Ask,
    Call(&'static str),
    Batch(Vec<&'static str>),
    Sleep(u32),
    Poll(&'static str),
    Wait(&'static str),
    /// Starts a tool call.
    Start(&'static str),
    /// Starts a model call.
    StartModel,
    /// Starts a deadline that outlasts every test.
    StartHour,
    /// Waits for some of what was started, and for a signal.
    Next(Vec<usize>, Option<&'static str>),
    /// Drops something that was started.
    Leave(usize),
    Emit,
    Uuid,
    ContinueAsNew,
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
        1 => (0..3_u32).prop_map(Op::Sleep),
        2 => signal_name().prop_map(Op::Poll),
        1 => signal_name().prop_map(Op::Wait),
        4 => tool().prop_map(Op::Start),
        1 => Just(Op::StartModel),
        1 => Just(Op::StartHour),
        6 => (
            proptest::collection::vec(0..9_usize, 0..4),
            proptest::option::of(signal_name()),
        )
            .prop_map(|(which, name)| Op::Next(which, name)),
        2 => (0..9_usize).prop_map(Op::Leave),
        3 => Just(Op::Emit),
        1 => Just(Op::Uuid),
        1 => Just(Op::ContinueAsNew),
    ]
}

/// Returns what the model and the tools do, call by call.
fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Answer),
        1 => Just(Act::fail(FailureKind::ToolFailed)),
        1 => Just(Act::fail(FailureKind::InvalidRequest)),
        1 => Just(Act::fail(FailureKind::Unavailable)),
    ]
}

/// Returns the options of a step that is tried twice, without delay.
fn quick(name: &str, number: u32, position: u32) -> ActivityOptions {
    let retry_policy = RetryPolicy {
        maximum_attempts: 2,
        initial_interval: Duration::ZERO,
        ..RetryPolicy::default()
    };
    ActivityOptions {
        retry_policy,
        ..options(name, number + 1, position)
    }
}

/// Performs one operation and returns its result. `started` is what this segment has started.
async fn perform(
    door: &JournaledContext,
    started: &mut Vec<Handle>,
    number: u32,
    op: &Op,
) -> String {
    let messages = || request(usize::try_from(number + 1).unwrap());
    let quick = |name: &str, position| quick(name, number, position);
    match op {
        Op::Ask => {
            let asked = door.execute_llm_call(&messages(), &quick("model", 0)).await;
            format!("{asked:?}")
        }
        Op::Call(name) => {
            let called = door.execute_tool(&call(name), &quick(name, 1)).await;
            format!("{called:?}")
        }
        Op::Batch(names) => {
            let calls: Vec<_> = names.iter().map(|name| call(name)).collect();
            let each: Vec<_> = names
                .iter()
                .zip(1..)
                .map(|(name, n)| quick(name, n))
                .collect();
            format!("{:?}", execute_tools(&door, &calls, &each).await)
        }
        Op::Sleep(millis) => {
            let slept = door.sleep(*millis * MILLISECOND).await; // It may take longer.
            format!("{slept:?}")
        }
        Op::Poll(name) => {
            let poll = Some(Duration::ZERO);
            format!("{:?}", door.wait_for_signal::<u32>(name, poll).await)
        }
        Op::Wait(name) => {
            let soon = Some(MILLISECOND);
            format!("{:?}", door.wait_for_signal::<u32>(name, soon).await)
        }
        Op::Start(name) => {
            let effect = Effect::Tool(call(name));
            started.push(door.start(Started::step(effect, &quick(name, 1))));
            String::new()
        }
        Op::StartModel => {
            let effect = Effect::Model(messages());
            started.push(door.start(Started::step(effect, &quick("model", 0))));
            String::new()
        }
        Op::StartHour => {
            started.push(door.start(Started::Deadline(HOUR)));
            String::new()
        }
        Op::Next(which, name) => {
            let soon = door.start(Started::Deadline(Duration::ZERO));
            let pick = |n: &usize| Some(started[n.checked_rem(started.len())?]);
            let handles: Vec<Handle> = which.iter().filter_map(pick).chain([soon]).collect();
            let names: Vec<&str> = name.iter().copied().collect();
            let observed = door.next(&handles, &names).await;
            format!("{observed:?}, left {}", door.leave(soon))
        }
        Op::Leave(which) => {
            let left = started.get(which % started.len().max(1));
            format!("{:?}", left.map(|handle| door.leave(*handle)))
        }
        Op::Emit => {
            door.emit(RunEvent::TurnStarted { turn: number + 1 });
            String::new()
        }
        Op::Uuid => door.uuid().to_string(),
        Op::ContinueAsNew => {
            let continued = door.continue_as_new(&behind(number + 1)).await;
            if continued.is_ok() {
                started.clear();
            }
            format!("{continued:?}")
        }
    }
}

/// Returns a state with the number of operations that are done.
fn behind(operations: u32) -> RunState {
    let machine = AgentMachine::new(input(), chrono::DateTime::UNIX_EPOCH);
    RunState {
        turn: operations,
        ..machine.state().clone()
    }
}

struct Trace {
    /// The result of each operation, and the clock after it.
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
        let done = match door.run_start().await.unwrap() {
            RunStart::Request { .. } | RunStart::New(_) => 0,
            RunStart::Continued(state) => usize::try_from(state.turn).unwrap(),
        };
        let mut started = Vec::new();
        for (number, op) in ops.iter().take(until).enumerate().skip(done) {
            let number_of = u32::try_from(number).unwrap();
            let came = perform(&door, &mut started, number_of, op).await;
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

/// Performs it on a runtime of one thread, on which the journal is written in place.
fn in_place(run: impl Future<Output = Trace>) -> Trace {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(run)
}

/// Performs it as a task of a runtime of many threads: the journal is written on separate threads.
fn on_threads(run: impl Future<Output = Trace> + Send + 'static) -> Trace {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async { tokio::spawn(run).await.unwrap() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn comes_to_the_same_wherever_the_process_dies(
        ops in proptest::collection::vec(op(), 1..12),
        acts in proptest::collection::vec(act(), 0..12),
        signals in proptest::collection::vec(signal_name(), 0..4),
    ) {
        let undisturbed = in_place(run(&ops, &acts, &signals, false));
        let dying = in_place(run(&ops, &acts, &signals, true));
        prop_assert_eq!(undisturbed.calls, dying.calls);
        prop_assert_eq!(undisturbed.events, dying.events);
        let results = undisturbed.results.iter().zip(&dying.results);
        for ((one, other), op) in results.zip(&ops) {
            // No two runs make the same id.
            if !matches!(op, Op::Uuid) {
                prop_assert_eq!(&one.0, &other.0);
            }
        }
    }

    /// Which of several calls ends first differs every time; each run keeps its own order.
    #[test]
    fn observes_the_same_again_whatever_ended_meanwhile(
        ops in proptest::collection::vec(op(), 1..12),
        acts in proptest::collection::vec(act(), 0..12),
        signals in proptest::collection::vec(signal_name(), 0..4),
    ) {
        let trace = on_threads(async move { run(&ops, &acts, &signals, true).await });
        let mut writes = trace.calls;
        writes.retain(|call| call.starts_with("write"));
        let made = writes.len();
        writes.dedup();
        prop_assert_eq!(made, writes.len(), "each once");
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
            let results = execute_tools(&door, &[call("write"), call("read")], &each).await;
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
