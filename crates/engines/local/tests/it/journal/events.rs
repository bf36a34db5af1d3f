use std::sync::{Arc, Mutex};

use neuron_engine::RunClient as _;
use neuron_local::{JournaledContext, LocalClient};
use neuron_testing::effects::TestHook;
use neuron_types::{
    DurableContext, DurableError, FailureKind, HookAction, HookEvent, RunEvent, RunPhase,
};
use serde_json::Value;

use super::{EVENTS, World, ended, plain_output};
use crate::room::{Act, describe, eventually, model_options, request};

const STARTED: RunEvent = RunEvent::TurnStarted { turn: 1 };
const OVER: RunEvent = RunEvent::TurnEnded { turn: 1 };

async fn ask(door: &JournaledContext, messages: usize) {
    let turn = u32::try_from(messages).unwrap();
    door.execute_llm_call(&request(messages), &model_options(turn))
        .await
        .unwrap();
}

#[tokio::test]
async fn are_written_with_the_step_that_they_led_to() {
    let world = World::new().await;
    let door = world.door().await;
    door.emit(STARTED);
    assert_eq!(world.count(EVENTS), 0);
    ask(&door, 1).await;
    door.emit(OVER);
    let events = world
        .journal()
        .await
        .events(&world.run_id, 0)
        .await
        .unwrap();
    assert_eq!(describe(&events), ["1 turn_started"]);
}

#[tokio::test]
async fn can_be_read_from_any_number_however_many_were_written_at_once() {
    let world = World::new().await;
    let (door, journal) = (world.door().await, world.journal().await);
    for turn in 1..=20 {
        for _ in 0..turn % 4 {
            door.emit(RunEvent::TurnStarted { turn });
        }
        ask(&door, 1).await;
        if turn % 3 == 0 {
            door.emit(OVER);
            door.flush().await.unwrap();
        }
    }
    let all = journal.events(&world.run_id, 0).await.unwrap();
    let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=36).collect::<Vec<u64>>());
    let client = LocalClient::from(journal.clone());
    for after in 0..=36 {
        let behind = u64::try_from(after).unwrap();
        let rest = &all[after..];
        assert_eq!(journal.events(&world.run_id, behind).await.unwrap(), rest);
        let page = client.events(&world.run_id, behind, 5).await.unwrap();
        assert_eq!(page.events, rest[..rest.len().min(5)]);
        assert_eq!(page.more, rest.len() > 5);
    }
}

#[tokio::test]
async fn make_up_the_status_that_is_written_now_and_then() {
    let world = World::new().await;
    let (door, journal) = (world.door().await, world.journal().await);
    let behind = "SELECT (SELECT max(seq) FROM entries) - seq FROM statuses";
    for turn in 1..=100 {
        door.emit(RunEvent::TurnStarted { turn });
        ask(&door, 1).await;
        assert_eq!(journal.status(&world.run_id).await.unwrap().turn, turn);
        assert!(world.count(behind) < 32);
    }
    assert_ne!(world.count(behind), 0);
    door.emit(ended());
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    assert_eq!(world.count(behind), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn can_be_followed_by_another_process_while_the_model_thinks() {
    let world = World::acting([Act::Hang]).await;
    let door = world.door().await;
    door.emit(STARTED);
    let (request, options) = (request(1), model_options(1));
    tokio::select! {
        _ = door.execute_llm_call(&request, &options) => panic!("the model hangs"),
        () = eventually(|| world.count(EVENTS) == 1) => {}
    }
    let status = world.journal().await.status(&world.run_id).await.unwrap();
    assert_eq!(status.turn, 1);
}

#[tokio::test]
async fn are_told_once_and_keep_their_numbers_and_times_in_a_replay() {
    let world = World::new().await;
    let door = world.door().await;
    door.emit(STARTED);
    ask(&door, 1).await;
    door.emit(OVER);
    drop(door);
    assert_eq!(world.room.sink.told(), ["1 turn_started", "2 turn_ended"]);

    let door = world.door().await;
    door.emit(STARTED);
    ask(&door, 1).await;
    door.emit(OVER);
    door.emit(ended());
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    let told = [
        "1 turn_started",
        "2 turn_ended",
        "2 turn_ended",
        "3 run_ended",
    ];
    assert_eq!(
        world.room.sink.told(),
        told,
        "the one that was lost is told again"
    );

    let events = world
        .journal()
        .await
        .events(&world.run_id, 0)
        .await
        .unwrap();
    let live = world.room.sink.events.lock().unwrap();
    assert_eq!(events[0], live[0]);
    assert_eq!(events[1..], live[2..]);
}

/// Returns what hooks are notified of, by a door whose first `LoopIteration` gets this answer.
fn hooked(
    world: &World,
    answer: HookAction,
) -> (neuron_executor::Executor, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let hook = TestHook(move |event: &HookEvent<'_>| {
        let (what, action) = match event {
            HookEvent::LoopIteration { turn } => (format!("turn {turn}"), answer.clone()),
            HookEvent::ExitCheck { turn } => (format!("end of {turn}"), HookAction::Continue),
            HookEvent::SessionEnd { .. } => ("the end".into(), HookAction::Continue),
            _ => return Ok(HookAction::Continue),
        };
        log.lock().unwrap().push(what);
        Ok(action)
    });
    (world.room.builder().hook(hook).build(), seen)
}

async fn open(world: &World, executor: &neuron_executor::Executor) -> JournaledContext {
    let journal = world.journal().await;
    JournaledContext::open(&journal, &world.run_id, executor.clone())
        .await
        .unwrap()
        .with_park_policy(neuron_local::ParkPolicy::Suspend)
}

#[tokio::test]
async fn reach_hooks_before_the_next_effect_and_not_again_in_a_replay() {
    let world = World::new().await;
    let (executor, seen) = hooked(&world, HookAction::Continue);
    let door = open(&world, &executor).await;
    door.emit(STARTED);
    assert!(seen.lock().unwrap().is_empty());
    ask(&door, 1).await;
    assert_eq!(*seen.lock().unwrap(), ["turn 1"]);
    drop(door);

    let door = open(&world, &executor).await;
    door.emit(STARTED);
    ask(&door, 1).await;
    door.emit(OVER);
    door.emit(ended());
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["turn 1", "end of 1", "the end"]);
}

#[tokio::test]
async fn reach_hooks_also_if_the_run_was_parked_before_they_could() {
    let world = World::new().await;
    let (executor, seen) = hooked(&world, HookAction::Continue);
    let wait = RunEvent::Waiting {
        state: RunPhase::WaitingForInput,
    };
    let door = open(&world, &executor).await;
    door.emit(STARTED);
    door.emit(wait.clone());
    let parked = door.wait_for_signal::<Value>("go", None).await;
    assert!(matches!(parked, Err(DurableError::Suspended)));
    drop(door);
    assert!(seen.lock().unwrap().is_empty());

    let journal = world.journal().await;
    journal
        .signal(&world.run_id, "go", Value::Null)
        .await
        .unwrap();
    let door = open(&world, &executor).await;
    door.emit(STARTED);
    door.emit(wait);
    let got = door.wait_for_signal::<Value>("go", None).await;
    assert_eq!(got.unwrap(), Some(Value::Null));
    ask(&door, 1).await;
    assert_eq!(*seen.lock().unwrap(), ["turn 1"]);
}

#[tokio::test]
async fn let_a_hook_end_the_run_in_every_replay() {
    let world = World::new().await;
    let stop = HookAction::Terminate {
        reason: "seen enough".into(),
    };
    let (executor, seen) = hooked(&world, stop);
    for _ in 0..2 {
        let door = open(&world, &executor).await;
        door.emit(STARTED);
        let result = door.execute_llm_call(&request(1), &model_options(1)).await;
        assert!(
            matches!(result, Err(DurableError::Step(failure)) if failure.kind == FailureKind::Terminated)
        );
    }
    assert_eq!(*seen.lock().unwrap(), ["turn 1"]);
    assert!(world.room.calls().is_empty());
}
