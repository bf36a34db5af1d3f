use neuron_local::JournalError;
use neuron_types::{DurableContext, DurableError, RunEvent};

use super::{World, plain_output};
use crate::room::{call, describe, model_options, options, request};

fn is_full(error: &DurableError) -> bool {
    let DurableError::Engine { source } = error else {
        return false;
    };
    let text = source.to_string();
    text.contains("disk is full") && text.contains("resume") && text.contains("neuron.db")
}

#[tokio::test(flavor = "multi_thread")]
async fn stops_the_run_with_a_sentence_and_loses_nothing() {
    let world = World::new().await;
    let size = world
        .home
        .path()
        .join("neuron.db")
        .metadata()
        .unwrap()
        .len();
    let journal = world.limited(size + 16 * 1024).await;
    let door = world.door_to(&journal).await;
    let mut done = 0;
    let error = loop {
        let turn = done + 1;
        door.emit(RunEvent::MessageReceived {
            text: "x".repeat(2000),
        });
        let messages = usize::try_from(turn).unwrap();
        match door
            .execute_llm_call(&request(messages), &model_options(turn))
            .await
        {
            Ok(_) => done += 1,
            Err(error) => break error,
        }
        assert!(done < 100, "the limit holds");
    };
    assert!(is_full(&error), "{error:?}");
    assert!(done > 0);
    let full = door.flush().await.unwrap_err();
    assert!(matches!(full, JournalError::Full { .. }));
    drop(door);

    // There is room again.
    let door = world.door().await;
    for turn in 1..=done + 1 {
        door.emit(RunEvent::MessageReceived {
            text: "x".repeat(2000),
        });
        let messages = usize::try_from(turn).unwrap();
        door.execute_llm_call(&request(messages), &model_options(turn))
            .await
            .unwrap();
    }
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    let calls = world.room.calls();
    let again = format!("model {}", done + 1);
    assert_eq!(calls.len(), usize::try_from(done).unwrap() + 2);
    assert_eq!(calls.iter().filter(|call| **call == again).count(), 2);
    let events = world
        .journal()
        .await
        .events(&world.run_id, 0)
        .await
        .unwrap();
    assert_eq!(describe(&events).len(), usize::try_from(done).unwrap() + 1);
}

#[tokio::test]
async fn keeps_a_write_from_being_made_that_could_not_be_announced() {
    let world = World::new().await;
    let journal = world.limited(1).await;
    let door = world.door_to(&journal).await;
    door.emit(RunEvent::MessageReceived {
        text: "x".repeat(9000),
    });
    let result = door
        .execute_tool(&call("write"), &options("write", 1, 1))
        .await;
    assert!(is_full(&result.unwrap_err()));
    assert!(world.room.calls().is_empty());
    drop(door);

    let door = world.door().await;
    door.emit(RunEvent::MessageReceived {
        text: "x".repeat(9000),
    });
    let result = door
        .execute_tool(&call("write"), &options("write", 1, 1))
        .await;
    assert!(result.is_ok());
}

#[tokio::test]
async fn is_gone_as_soon_as_there_is_room_and_no_event_is_lost() {
    let world = World::new().await;
    let ballast = "INSERT INTO runs (run_id, engine, created_at, input) \
                   VALUES ('ballast', 'local', 0, hex(zeroblob(50000)))";
    world.database().execute(ballast, []).unwrap();
    let journal = world.limited(1).await;
    let door = world.door_to(&journal).await;
    door.emit(RunEvent::MessageReceived {
        text: "x".repeat(9000),
    });
    door.flush().await.unwrap_err();
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.flush().await.unwrap_err();

    world
        .database()
        .execute("DELETE FROM runs WHERE run_id = 'ballast'", [])
        .unwrap();
    door.flush().await.unwrap();
    let events = journal.events(&world.run_id, 0).await.unwrap();
    assert_eq!(describe(&events), ["1 message_received", "2 turn_started"]);
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.turn, 1);
}
