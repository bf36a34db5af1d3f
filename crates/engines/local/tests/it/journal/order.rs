//! What a run observed, it observes again, whatever was journaled since.

use std::time::Duration;

use neuron_local::JournaledContext;
use neuron_types::{
    DurableContext, DurableError, Effect, End, FailureKind, Handle, Observed, Started, signal,
};
use serde_json::json;

use super::World;
use crate::room::{Act, call, eventually, model_options, options, request};

pub(super) fn start(door: &JournaledContext, name: &str, position: u32) -> Handle {
    let effect = Effect::Tool(call(name));
    door.start(Started::step(effect, &options(name, 1, position)))
}

/// Returns which of these ended.
pub(super) async fn ended(door: &JournaledContext, handles: &[Handle]) -> Handle {
    match door.next(handles, &[]).await {
        Ok(Observed::Ended(handle, _)) => handle,
        other => panic!("{other:?}"),
    }
}

async fn go(world: &World, number: u32) {
    let journal = world.journal().await;
    let sent = journal.signal(&world.run_id, "go", json!(number));
    sent.await.unwrap();
}

/// Waits for `go`, whose payload is this number.
async fn takes(door: &JournaledContext, handles: &[Handle], number: u32) {
    match door.next(handles, &["go"]).await {
        Ok(Observed::Signal(signal)) => assert_eq!(signal.payload, json!(number)),
        other => panic!("{other:?}"),
    }
}

const MINUTE: Duration = Duration::from_secs(60); // The clock is paused.
const HOUR: Duration = Duration::from_secs(3600); // No run waits for it.

const RESULTS: &str = "SELECT count(*) FROM entries WHERE result IS NOT NULL";

#[tokio::test(start_paused = true)]
async fn the_first_end_comes_first_also_where_both_are_journaled() {
    let fails = Act::fail(FailureKind::Unavailable);
    let world = World::acting([fails, Act::Answer]).await;
    for _ in 0..2 {
        let door = world.door().await;
        let both = [start(&door, "put", 1), start(&door, "read", 2)];
        let mut order = Vec::new();
        for _ in both {
            order.push((ended(&door, &both).await, door.now()));
        }
        let [first, second] = both;
        assert_eq!([order[0].0, order[1].0], [second, first]);
        assert!(order[0].1 < order[1].1);
    }
    assert_eq!(world.room.calls().len(), 3);
}

#[tokio::test]
async fn an_end_that_nobody_observed_before_the_process_died_is_observed_by_the_next() {
    let world = World::new().await;
    let door = world.door().await;
    start(&door, "write", 1);
    tokio::select! {
        _ = door.next(&[], &["go"]) => panic!("nobody says go"),
        () = eventually(|| world.count(RESULTS) == 1) => {}
    }
    drop(door);
    go(&world, 1).await;
    let door = world.door().await;
    let write = start(&door, "write", 1);
    // It ended before the signal came.
    let observed = door.next(&[write], &["go"]).await;
    assert!(matches!(observed, Ok(Observed::Ended(handle, End::Effect(Ok(_)))) if handle == write));
    takes(&door, &[], 1).await;
    assert_eq!(world.room.calls(), ["write r:1:1"]);
}

#[tokio::test(start_paused = true)]
async fn a_signal_comes_at_its_place_though_the_call_beside_it_has_ended_since() {
    let slow = Act::Fail(FailureKind::Unavailable, Some(MINUTE));
    let world = World::acting([slow]).await;
    go(&world, 1).await;
    for _ in 0..3 {
        let door = world.door().await;
        let put = start(&door, "put", 1);
        takes(&door, &[put], 1).await;
        let taken_at = door.now();
        assert_eq!(ended(&door, &[put]).await, put);
        assert!(door.now() >= taken_at);
    }
    assert_eq!(world.room.calls().len(), 2, "two attempts, both before");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_is_not_made_again() {
    let world = World::acting([Act::Hang]).await;
    let door = world.door().await;
    let read = start(&door, "read", 1);
    let person = async {
        eventually(|| world.room.calls().len() == 1).await;
        go(&world, 1).await;
    };
    let handles = [read];
    tokio::join!(takes(&door, &handles, 1), person);
    assert!(!door.leave(read));
    door.execute_llm_call(&request(1), &model_options(2))
        .await
        .unwrap();
    drop(door);
    let rows = "SELECT count(*) FROM entries WHERE kind = 'tool'";
    assert_eq!(world.count(rows), 0, "it left nothing");

    let door = world.door().await;
    let read = start(&door, "read", 1);
    takes(&door, &[read], 1).await;
    assert!(!door.leave(read));
    door.execute_llm_call(&request(1), &model_options(2))
        .await
        .unwrap();
    assert_eq!(world.room.calls(), ["read r:1:1", "model 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_is_cancelled_at_the_same_wait_again() {
    let world = World::acting([Act::Hang, Act::Hang]).await;
    let journal = world.journal().await;
    for time in 0..3 {
        let door = world.door().await;
        let (read, write) = (start(&door, "read", 1), start(&door, "write", 2));
        let person = async {
            if time == 0 {
                eventually(|| world.room.calls().len() == 2).await;
                let reason = json!({ "reason": "enough" });
                let sent = journal.signal(&world.run_id, signal::CANCEL, reason);
                sent.await.unwrap();
            }
        };
        let both = [read, write];
        let (cancelled, ()) = tokio::join!(door.next(&both, &[]), person);
        // Since then the write has ended.
        assert!(
            matches!(&cancelled, Err(DurableError::Cancelled { reason }) if reason.as_deref() == Some("enough")),
            "{cancelled:?}"
        );
        assert_eq!((door.leave(read), door.leave(write)), (false, true));
        let end = door.next(&[write], &[]).await;
        assert!(
            matches!(&end, Ok(Observed::Ended(_, End::Effect(Err(failure)))) if failure.kind == FailureKind::Cancelled),
            "{end:?}"
        );
        if time == 1 {
            // A client that did not see the cancellation.
            let again = journal.signal(&world.run_id, signal::CANCEL, json!({}));
            again.await.unwrap();
        }
    }
    assert_eq!(world.room.calls().len(), 2);
}

#[tokio::test]
async fn a_write_that_was_left_and_lost_is_waited_for_and_unknown() {
    let world = World::acting([Act::Hang]).await;
    go(&world, 1).await;
    let door = world.door().await;
    let write = start(&door, "write", 1);
    takes(&door, &[write], 1).await;
    assert!(door.leave(write));
    drop(door);
    let door = world.door().await;
    let write = start(&door, "write", 1);
    takes(&door, &[write], 1).await;
    assert!(door.leave(write));
    let end = door.next(&[write], &[]).await;
    assert!(
        matches!(&end, Ok(Observed::Ended(_, End::Effect(Err(failure)))) if failure.kind == FailureKind::OutcomeUnknown),
        "{end:?}"
    );
    assert_eq!(world.room.calls(), ["write r:1:1"]);
}

#[tokio::test]
async fn a_signal_that_came_in_time_is_taken_by_a_run_that_is_resumed_too_late() {
    let world = World::new().await;
    let hour = Some(HOUR);
    let door = world.parking_door().await;
    let parked = door.wait_for_signal::<u32>("go", hour).await;
    assert!(matches!(parked, Err(DurableError::Suspended)));
    drop(door);
    go(&world, 1).await;
    // Two hours pass.
    world
        .database()
        .execute("UPDATE runs SET created_at = created_at - 7200000000", [])
        .unwrap();
    for _ in 0..2 {
        let door = world.parking_door().await;
        let got = door.wait_for_signal::<u32>("go", hour).await;
        assert_eq!(got.unwrap(), Some(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_parked_when_its_effects_have_ended() {
    let slow = Act::Fail(FailureKind::Unavailable, Some(MINUTE));
    let world = World::acting([slow]).await;
    let door = world.parking_door().await;
    start(&door, "put", 1);
    let deadline = door.start(Started::Deadline(HOUR));
    let before = tokio::time::Instant::now();
    let parked = door.next(&[deadline], &["go"]).await;
    assert!(matches!(parked, Err(DurableError::Suspended)), "{parked:?}");
    assert!((60..=66).contains(&before.elapsed().as_secs()));
    assert_eq!((world.room.calls().len(), world.count(RESULTS)), (2, 1));
    drop(door);

    let door = world.parking_door().await;
    let put = start(&door, "put", 1);
    let deadline = door.start(Started::Deadline(HOUR));
    let parked = door.next(&[deadline], &["go"]).await;
    assert!(matches!(parked, Err(DurableError::Suspended)));
    assert_eq!(ended(&door, &[put]).await, put);
    assert_eq!(world.room.calls().len(), 2);
}

#[tokio::test]
async fn a_segment_does_not_end_while_something_is_in_flight() {
    let world = World::new().await;
    let door = world.door().await;
    door.run_start().await.unwrap();
    let put = start(&door, "put", 1);
    let machine = neuron_loop::AgentMachine::new(super::input(), chrono::DateTime::UNIX_EPOCH);
    let early = door.continue_as_new(machine.state()).await;
    assert!(
        matches!(early, Err(DurableError::Engine { .. })),
        "{early:?}"
    );
    assert!(!door.leave(put));
    door.continue_as_new(machine.state()).await.unwrap();
}

#[tokio::test]
async fn the_writes_of_a_batch_are_announced_together_and_before_any_is_made() {
    let world = World::acting([Act::Hang, Act::Hang]).await;
    let door = world.door().await;
    let both = [start(&door, "write", 1), start(&door, "write", 2)];
    let left = start(&door, "write", 3);
    assert!(door.leave(left));
    tokio::select! {
        _ = door.next(&both, &[]) => panic!("both hang"),
        () = eventually(|| world.room.calls().len() == 2) => {}
    }
    let announced = "SELECT count(*) FROM attempts WHERE failure IS NULL";
    assert_eq!(world.count(announced), 2);
    let at_once = "SELECT count(DISTINCT at) FROM attempts";
    assert!(world.count(at_once) <= 2);
    assert_eq!(world.room.calls(), ["write r:1:1", "write r:1:2"]);
}
