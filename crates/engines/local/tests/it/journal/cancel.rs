use std::time::Duration;

use neuron_patience::patience;
use neuron_testing::door::execute_tools;
use neuron_types::{
    DurableContext, DurableError, ExitReason, FailureKind, RunEvent, RunPhase, signal,
};
use serde_json::{Value, json};

use super::World;
use crate::room::{Act, call, describe, eventually, model_options, options, request};

const HOUR: Duration = Duration::from_secs(3600); // It is cancelled long before.

fn is_cancelled<T>(result: &Result<T, DurableError>, wanted: &str) -> bool {
    matches!(result, Err(DurableError::Cancelled { reason }) if reason.as_deref() == Some(wanted))
}

/// Fails instead of waiting for ever if something is not cancelled.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(patience(), work)
        .await
        .expect("it goes on though it was cancelled")
}

#[tokio::test]
async fn ends_a_run_at_once_that_nobody_executes() {
    let world = World::new().await;
    let door = world.door().await;
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.flush().await.unwrap();
    drop(door);
    let journal = world.journal().await;
    let output = journal.cancel(&world.run_id, Some("enough".into())).await;
    let output = output.unwrap().unwrap();
    assert_eq!(output.state, RunPhase::Cancelled);
    assert_eq!(output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(output.turns, 1);
    let error = output.error.clone().unwrap();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (FailureKind::Cancelled, "enough")
    );

    assert_eq!(journal.output(&world.run_id).await.unwrap(), Some(output));
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::Cancelled);
    let events = journal.events(&world.run_id, 0).await.unwrap();
    assert_eq!(describe(&events), ["1 turn_started", "2 run_ended"]);
    assert!(!world.home.path().join("locks/r.lock").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_a_model_call_that_hangs() {
    let world = World::acting([Act::Hang]).await;
    let door = world.door().await;
    let (request, options) = (request(1), model_options(1));
    let canceller = async {
        eventually(|| world.room.calls().len() == 1).await;
        let journal = world.journal().await;
        let outcome = journal.cancel(&world.run_id, Some("enough".into())).await;
        assert_eq!(outcome.unwrap(), None, "its executor is at it");
    };
    let call = door.execute_llm_call(&request, &options);
    let both = async { tokio::join!(call, canceller) };
    let (result, ()) = soon(both).await;
    assert!(is_cancelled(&result, "enough"));

    let poll = Some(Duration::ZERO);
    let later = door.wait_for_signal::<Value>("go", poll).await;
    assert!(is_cancelled(&later, "enough"));
    let later = door.sleep(Duration::ZERO).await; // It ends at once.
    assert!(is_cancelled(&later, "enough"));
    let later = execute_tools(&door, &[call_write()], &[write_options()]).await;
    assert!(is_cancelled(&later[0], "enough"));
    let of_the_model = "SELECT count(*) FROM entries WHERE kind = 'model'";
    assert_eq!(world.count(of_the_model), 0);
    assert_eq!(world.count("SELECT count(*) FROM attempts"), 0);
    assert_eq!(world.room.calls(), ["model 1"]);
}

fn call_write() -> neuron_types::ToolCall {
    call("write")
}

fn write_options() -> neuron_types::ActivityOptions {
    options("write", 1, 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_whatever_is_waited_for() {
    for is_sleep in [true, false] {
        let world = World::new().await;
        let door = world.door().await;
        let journal = world.journal().await;
        let pending = async {
            if is_sleep {
                door.sleep(HOUR).await // It is cancelled long before.
            } else {
                let got = door.wait_for_signal::<Value>("go", Some(HOUR)).await;
                got.map(drop)
            }
        };
        let reason = json!({ "reason": "enough" });
        let cancelling = journal.signal(&world.run_id, signal::CANCEL, reason);
        let both = async { tokio::join!(pending, cancelling) };
        let (result, cancelled) = soon(both).await;
        cancelled.unwrap();
        assert!(is_cancelled(&result, "enough"));
    }
}

#[tokio::test]
async fn goes_before_the_signals_that_wait() {
    let world = World::new().await;
    let door = world.door().await;
    let journal = world.journal().await;
    journal.signal(&world.run_id, "go", json!(1)).await.unwrap();
    assert_eq!(journal.cancel(&world.run_id, None).await.unwrap(), None);
    let result = door
        .wait_for_signal::<u32>("go", Some(Duration::ZERO))
        .await;
    assert!(matches!(
        result,
        Err(DurableError::Cancelled { reason: None })
    ));
}

#[tokio::test]
async fn is_seen_before_the_next_write_is_made() {
    let world = World::new().await;
    let door = world.door().await;
    door.execute_tool(&call("read"), &options("read", 1, 1))
        .await
        .unwrap();
    let journal = world.journal().await;
    let outcome = journal.cancel(&world.run_id, Some("enough".into())).await;
    assert_eq!(outcome.unwrap(), None);
    let write = soon(door.execute_tool(&call_write(), &options("write", 1, 2))).await;
    assert!(is_cancelled(&write, "enough"));
    assert_eq!(world.room.calls(), ["read r:1:1"]);
}

#[tokio::test]
async fn replays_what_was_journaled_before_it_takes_effect() {
    let world = World::acting([Act::Answer, Act::Hang]).await;
    let door = world.door().await;
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    let journal = world.journal().await;
    assert_eq!(journal.cancel(&world.run_id, None).await.unwrap(), None);
    // The process dies before it learns of the cancellation.
    drop(door);

    let door = world.door().await;
    let replayed = door.execute_llm_call(&request(1), &model_options(1)).await;
    assert!(replayed.is_ok());
    let next = door.execute_llm_call(&request(3), &model_options(2)).await;
    assert!(matches!(next, Err(DurableError::Cancelled { .. })));
    assert_eq!(world.room.calls(), ["model 1"]);
}

#[tokio::test]
async fn is_not_an_interrupt_after_which_the_run_goes_on() {
    let world = World::acting([Act::Answer, Act::Hang]).await;
    let door = world.door().await;
    let calls = [call("read"), call("write")];
    let each = [options("read", 1, 1), options("write", 1, 2)];
    let interrupt = door.interrupt_handle();
    let person = async {
        let both = || world.room.calls().len() == 2;
        eventually(both).await;
        interrupt.interrupt();
    };
    let (results, ()) = tokio::join!(execute_tools(&door, &calls, &each), person);
    assert!(results[0].is_ok());
    assert!(matches!(results[1], Err(DurableError::Suspended)));
    let later = door.sleep(Duration::ZERO).await; // It ends at once.
    assert!(matches!(later, Err(DurableError::Suspended)));
    drop(door);

    let door = world.door().await;
    let results = execute_tools(&door, &calls, &each).await;
    assert!(results[0].is_ok());
    assert!(
        matches!(&results[1], Err(DurableError::Step(failure)) if failure.kind == FailureKind::OutcomeUnknown),
        "{results:?}"
    );
    assert_eq!(world.room.calls().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn catches_an_executor_that_parks_the_run_at_that_moment() {
    let world = World::new().await;
    let door = world.parking_door().await;
    let parked = door.wait_for_signal::<Value>("go", None).await;
    assert!(matches!(parked, Err(DurableError::Suspended)));
    let journal = world.journal().await;
    let leaving = async {
        let asked = || world.count("SELECT count(*) FROM signals") == 1;
        eventually(asked).await;
        drop(door);
    };
    let (output, ()) = tokio::join!(journal.cancel(&world.run_id, None), leaving);
    assert_eq!(output.unwrap().unwrap().state, RunPhase::Cancelled);
}
