use std::time::Duration;

use neuron_local::{JournalError, JournaledContext};
use neuron_loop::AgentMachine;
use neuron_types::{Decision, DurableContext, DurableError, RunEvent, RunState, Verdict, signal};
use serde_json::json;

use super::{World, asked, input, plain_output, ticket};
use crate::room::{Act, call, describe, model_options, options, request};

/// Returns a state that differs from others by its turn.
pub(super) fn state(turn: u32) -> RunState {
    let machine = AgentMachine::new(input(), chrono::DateTime::UNIX_EPOCH);
    RunState {
        turn,
        ..machine.state().clone()
    }
}

pub(super) async fn begun(world: &World) -> JournaledContext {
    let door = world.door().await;
    door.run_start().await.unwrap();
    door
}

/// Makes one turn, of three operations.
pub(super) async fn turn(door: &JournaledContext, turn: u32) {
    door.emit(RunEvent::TurnStarted { turn });
    let poll = Some(Duration::ZERO);
    door.wait_for_signal::<u32>("a", poll).await.unwrap();
    let asked = request(usize::try_from(turn).unwrap());
    door.execute_llm_call(&asked, &model_options(turn))
        .await
        .unwrap();
    let write = options("write", turn, 1);
    door.execute_tool(&call("write"), &write).await.unwrap();
}

#[tokio::test]
async fn goes_on_from_its_newest_segment_in_this_process_and_in_the_next() {
    let world = World::new().await;
    let door = begun(&world).await.continue_as_new_after(9);
    let mut uuids = vec![door.uuid()];
    turn(&door, 1).await;
    assert!(!door.should_continue_as_new());
    turn(&door, 2).await;
    assert!(door.should_continue_as_new());
    let before = door.now();
    door.continue_as_new(&state(2)).await.unwrap();
    assert!(!door.should_continue_as_new());
    assert_eq!(
        world.count("SELECT count(*) FROM entries WHERE op IS NOT NULL"),
        0
    );
    assert_eq!(world.count("SELECT count(*) FROM attempts"), 0);
    assert_eq!(
        (
            door.now(),
            world.journal().await.segment(&world.run_id).await.unwrap()
        ),
        (before, 2)
    );
    turn(&door, 3).await;
    uuids.push(door.uuid());
    let after = door.now();
    drop(door);

    let door = world.door().await.continue_as_new_after(9);
    assert_eq!(door.run_start().await.unwrap(), state(2).into());
    assert_eq!(door.now(), before);
    turn(&door, 3).await;
    uuids.push(door.uuid());
    assert_eq!(door.now(), after);
    assert_eq!(uuids[1], uuids[2], "the same in a replay");
    assert_ne!(uuids[0], uuids[1], "no other segment has it");
    turn(&door, 4).await;
    assert!(door.should_continue_as_new());
    door.continue_as_new(&state(4)).await.unwrap();
    drop(door);

    let door = world.door().await;
    assert_eq!(door.run_start().await.unwrap(), state(4).into());
    turn(&door, 5).await;
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    let calls = world.room.calls();
    assert_eq!(calls.len(), 10, "none was made twice: {calls:?}");
    let journal = world.journal().await;
    let events = journal.events(&world.run_id, 0).await.unwrap();
    let told: Vec<String> = (1..=5).map(|seq| format!("{seq} turn_started")).collect();
    assert_eq!(describe(&events), told);
    assert_eq!(journal.segment(&world.run_id).await.unwrap(), 3);
}

#[tokio::test]
async fn continues_as_new_by_the_size_of_results_too() {
    let world = World::new().await;
    let door = begun(&world).await.continue_as_new_after_bytes(200);
    let is_past = |door: &JournaledContext| door.should_continue_as_new();
    assert!(!is_past(&door));
    let mut calls = 0;
    while !is_past(&door) {
        calls += 1;
        assert!(calls < 10);
        let read = options("read", calls, 1);
        door.execute_tool(&call("read"), &read).await.unwrap();
    }
    assert!(calls > 1);
    drop(door);
    let door = begun(&world).await.continue_as_new_after_bytes(200);
    for turn in 1..=calls {
        assert!(!is_past(&door));
        let read = options("read", turn, 1);
        door.execute_tool(&call("read"), &read).await.unwrap();
    }
    assert!(is_past(&door), "what is replayed counts");
}

#[tokio::test]
async fn a_replay_does_not_continue_as_new_where_the_run_did_not() {
    let world = World::new().await;
    let door = begun(&world).await;
    turn(&door, 1).await;
    turn(&door, 2).await;
    drop(door);
    let door = begun(&world).await.continue_as_new_after(0);
    assert!(!door.should_continue_as_new());
    let early = door.continue_as_new(&state(0)).await;
    assert!(matches!(early, Err(DurableError::NonDeterminism { .. })));
    turn(&door, 1).await;
    assert!(!door.should_continue_as_new());
    turn(&door, 2).await;
    assert!(door.should_continue_as_new());
    assert_eq!(world.room.calls().len(), 4);
}

#[tokio::test]
async fn keeps_what_nobody_has_taken_and_gives_nothing_twice() {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = begun(&world).await;
    for number in 1..=3 {
        let sent = journal.signal(&world.run_id, "n", json!(number));
        sent.await.unwrap();
    }
    let poll = Some(Duration::ZERO);
    let first = door.wait_for_signal::<u32>("n", poll).await.unwrap();
    door.continue_as_new(&state(1)).await.unwrap();
    let second = door.wait_for_signal::<u32>("n", poll).await.unwrap();
    drop(door);
    let door = begun(&world).await;
    let again = door.wait_for_signal::<u32>("n", poll).await.unwrap();
    let third = door.wait_for_signal::<u32>("n", poll).await.unwrap();
    assert_eq!(
        [first, second, again, third],
        [Some(1), Some(2), Some(2), Some(3)]
    );
}

#[tokio::test]
async fn a_decision_that_was_queued_before_still_counts() {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = begun(&world).await;
    let open = ticket("t1-1");
    door.emit(asked(open.clone()));
    door.flush().await.unwrap();
    let decision = Decision {
        ticket: open.ticket,
        digest: open.digest,
        verdict: Verdict::Approve,
        ..Decision::default()
    };
    journal.decide(&world.run_id, &decision).await.unwrap();
    door.continue_as_new(&state(1)).await.unwrap();
    let twice = journal.decide(&world.run_id, &decision).await;
    assert!(matches!(twice, Err(JournalError::Refused(_))));
    let taken = door
        .wait_for_signal::<Decision>(signal::DECISION, None)
        .await;
    assert_eq!(taken.unwrap(), Some(decision.clone()));
    door.continue_as_new(&state(1)).await.unwrap();
    let late = journal.decide(&world.run_id, &decision).await;
    assert!(matches!(late, Err(JournalError::Refused(_))));
}

#[tokio::test]
async fn whoever_ignores_where_the_segment_starts_is_stopped() {
    let world = World::new().await;
    let door = world.door().await.continue_as_new_after(0);
    turn(&door, 1).await;
    assert!(!door.should_continue_as_new(), "nobody would go on from it");
    door.continue_as_new(&state(1)).await.unwrap();
    drop(door);
    let door = world.door().await;
    let asked = door.execute_llm_call(&request(1), &model_options(1)).await;
    let Err(DurableError::Engine { source }) = asked else {
        panic!("{asked:?}");
    };
    assert!(
        source.to_string().contains("JournaledContext::run_start"),
        "{source}"
    );
    assert_eq!(world.room.calls().len(), 2);
}

#[tokio::test]
async fn a_segment_that_does_not_fit_leaves_the_run_as_it_was() {
    let world = World::new().await;
    let door = begun(&world).await;
    turn(&door, 1).await;
    drop(door);
    let bytes = world
        .home
        .path()
        .join("neuron.db")
        .metadata()
        .unwrap()
        .len();
    let full = world.limited(bytes.max(100_000)).await;
    let door = world.door_to(&full).await;
    door.run_start().await.unwrap();
    turn(&door, 1).await;
    let large = RunState {
        last_text: Some("x".repeat(1_000_000)),
        ..state(1)
    };
    let failed = door.continue_as_new(&large).await;
    assert!(
        matches!(failed, Err(DurableError::Engine { .. })),
        "{failed:?}"
    );
    drop((door, full));
    let door = begun(&world).await;
    assert_eq!(
        world.journal().await.segment(&world.run_id).await.unwrap(),
        1
    );
    turn(&door, 1).await;
    door.continue_as_new(&large).await.unwrap();
    assert_eq!(world.room.calls().len(), 2);
    drop(door);
    assert_eq!(world.door().await.run_start().await.unwrap(), large.into());
}

#[tokio::test]
async fn a_run_that_is_cancelled_begins_no_segment() {
    let world = World::acting([Act::Answer]).await;
    let journal = world.journal().await;
    let door = begun(&world).await;
    let cancelled = journal.cancel(&world.run_id, Some("enough".into())).await;
    assert!(cancelled.unwrap().is_none());
    turn_is_cancelled(&door).await;
    let continued = door.continue_as_new(&state(1)).await;
    assert!(matches!(continued, Err(DurableError::Cancelled { .. })));
    assert_eq!(journal.segment(&world.run_id).await.unwrap(), 1);
}

async fn turn_is_cancelled(door: &JournaledContext) {
    let poll = door.wait_for_signal::<u32>("a", Some(Duration::ZERO)).await;
    assert!(matches!(poll, Err(DurableError::Cancelled { .. })));
}
