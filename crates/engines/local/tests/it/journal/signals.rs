use std::time::Duration;

use neuron_local::{JournaledContext, ParkPolicy};
use neuron_types::{DurableContext, DurableError, RunEvent, RunPhase, UserMessage, signal};
use serde_json::{Value, json};

use super::{EVENTS, World};
use crate::room::{Act, describe, eventually, model_options, request, since};

const MINUTES: Duration = Duration::from_secs(300); // The clock is paused.
const HOUR: Duration = Duration::from_secs(3600); // The test says that it is over.

const POLL: Option<Duration> = Some(Duration::ZERO);

async fn poll(door: &JournaledContext) -> Option<u32> {
    door.wait_for_signal("go", POLL).await.unwrap()
}

async fn go(world: &World, number: u32) {
    let journal = world.journal().await;
    journal
        .signal(&world.run_id, "go", json!(number))
        .await
        .unwrap();
}

#[tokio::test]
async fn are_taken_in_order_each_once_whoever_executes_the_run() {
    let world = World::new().await;
    go(&world, 1).await;
    go(&world, 2).await;
    let door = world.door().await;
    assert_eq!(poll(&door).await, Some(1));
    drop(door);
    go(&world, 3).await;

    let door = world.door().await;
    assert_eq!(poll(&door).await, Some(1));
    assert_eq!(poll(&door).await, Some(2));
    assert_eq!(poll(&door).await, Some(3));
    assert_eq!(poll(&door).await, None);
    drop(door);

    let door = world.door().await;
    for wanted in [Some(1), Some(2), Some(3), None] {
        assert_eq!(poll(&door).await, wanted);
    }
}

#[tokio::test]
async fn of_other_names_stay_where_they_are() {
    let world = World::new().await;
    let journal = world.journal().await;
    journal
        .signal(&world.run_id, "other", json!(9))
        .await
        .unwrap();
    let message = UserMessage { text: "hi".into() };
    journal.send(&world.run_id, &message).await.unwrap();
    go(&world, 1).await;
    let door = world.door().await;
    assert_eq!(poll(&door).await, Some(1));
    let got = door.wait_for_signal(signal::USER_MESSAGE, None).await;
    assert_eq!(got.unwrap(), Some(message));
    let got = door.wait_for_signal::<u32>("other", None).await;
    assert_eq!(got.unwrap(), Some(9));
}

#[tokio::test(flavor = "multi_thread")]
async fn wake_a_run_that_waits_in_this_process() {
    let world = World::new().await;
    let door = world.door().await;
    let sender = async {
        let waiting = || world.count(EVENTS) == 1;
        eventually(waiting).await;
        go(&world, 5).await;
    };
    door.emit(RunEvent::Waiting {
        state: RunPhase::WaitingForInput,
    });
    let (got, ()) = tokio::join!(door.wait_for_signal::<u32>("go", None), sender);
    assert_eq!(got.unwrap(), Some(5));
}

#[tokio::test]
async fn that_cannot_be_read_are_consumed_in_every_replay() {
    let world = World::new().await;
    let journal = world.journal().await;
    journal
        .signal(&world.run_id, "go", json!("no number"))
        .await
        .unwrap();
    go(&world, 2).await;
    for _ in 0..2 {
        let door = world.door().await;
        let bad = door.wait_for_signal::<u32>("go", None).await;
        assert!(matches!(bad, Err(DurableError::BadSignal { .. })));
        assert_eq!(poll(&door).await, Some(2));
    }
}

#[tokio::test]
async fn that_come_after_a_poll_found_nothing_do_not_change_what_followed() {
    let world = World::new().await;
    let door = world.door().await;
    assert_eq!(poll(&door).await, None);
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    drop(door);
    go(&world, 1).await;

    let door = world.door().await;
    assert_eq!(poll(&door).await, None);
    door.execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    assert_eq!(poll(&door).await, Some(1));
    assert_eq!(room_calls(&world), 1);
}

fn room_calls(world: &World) -> usize {
    world.room.calls().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn that_come_after_a_poll_do_not_change_what_was_told_since() {
    let world = World::acting([Act::Hang]).await;
    let door = world.door().await;
    assert_eq!(poll(&door).await, None);
    door.emit(RunEvent::TurnStarted { turn: 1 });
    let (request, options) = (request(1), model_options(1));
    tokio::select! {
        _ = door.execute_llm_call(&request, &options) => panic!("the model hangs"),
        () = eventually(|| world.count(EVENTS) == 1) => {}
    }
    drop(door);
    go(&world, 1).await;

    let door = world.door().await;
    assert_eq!(poll(&door).await, None, "the turn has started already");
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.execute_llm_call(&request, &options).await.unwrap();
    assert_eq!(poll(&door).await, Some(1));
    door.emit(RunEvent::MessageReceived { text: "1".into() });
    door.flush().await.unwrap();
    let events = world
        .journal()
        .await
        .events(&world.run_id, 0)
        .await
        .unwrap();
    assert_eq!(describe(&events), ["1 turn_started", "2 message_received"]);
}

#[tokio::test]
async fn are_taken_by_a_resumed_run_where_nothing_followed_the_poll() {
    let world = World::new().await;
    let door = world.door().await;
    assert_eq!(poll(&door).await, None);
    drop(door);
    go(&world, 1).await;
    let door = world.door().await;
    assert_eq!(poll(&door).await, Some(1));
}

#[tokio::test]
async fn let_a_run_be_parked_until_they_come() {
    let world = World::new().await;
    let door = world.parking_door().await;
    door.emit(RunEvent::Waiting {
        state: RunPhase::WaitingForInput,
    });
    let parked = door.wait_for_signal::<u32>("go", None).await;
    assert!(matches!(parked, Err(DurableError::Suspended)));
    let status = world.journal().await.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::WaitingForInput);
    drop(door);

    let door = world.parking_door().await;
    assert_eq!(poll(&door).await, None);
    drop(door);
    go(&world, 4).await;
    let door = world.parking_door().await;
    let got = door.wait_for_signal::<u32>("go", None).await;
    assert_eq!(got.unwrap(), Some(4));
}

#[tokio::test]
async fn do_not_keep_a_poll_from_going_on_where_waits_park() {
    let world = World::new().await;
    let door = world.parking_door().await;
    assert_eq!(poll(&door).await, None);
}

#[tokio::test(start_paused = true)]
async fn that_do_not_come_in_time_are_given_up_in_every_replay() {
    let world = World::new().await;
    let door = world.door().await;
    let start = door.now();
    let before = tokio::time::Instant::now();
    let got = door.wait_for_signal::<u32>("go", Some(MINUTES)).await;
    assert_eq!(got.unwrap(), None);
    // The wall clock continues beside the paused one.
    let really = since(start, chrono::Utc::now());
    assert!(before.elapsed() + really >= MINUTES);
    let end = door.now();
    assert!(since(start, end) >= MINUTES);
    drop(door);
    go(&world, 1).await;

    let door = world.door().await.with_park_policy(ParkPolicy::Suspend);
    let got = door.wait_for_signal::<u32>("go", Some(MINUTES)).await;
    assert_eq!((got.unwrap(), door.now()), (None, end));
    assert_eq!(poll(&door).await, Some(1));
}

#[tokio::test]
async fn are_given_up_by_a_parked_run_that_is_resumed_too_late() {
    let world = World::new().await;
    let door = world.parking_door().await;
    let parked = door.wait_for_signal::<Value>("go", Some(HOUR)).await;
    assert!(matches!(parked, Err(DurableError::Suspended)));
    drop(door);
    // Two hours pass: the run is older than it was.
    world
        .database()
        .execute("UPDATE runs SET created_at = created_at - 7200000000", [])
        .unwrap();
    let door = world.parking_door().await;
    let got = door.wait_for_signal::<Value>("go", Some(HOUR)).await;
    assert_eq!(got.unwrap(), None);
}
