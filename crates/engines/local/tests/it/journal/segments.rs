use std::time::Duration;

use neuron_local::{Journal, JournalError, JournaledContext};
use neuron_loop::AgentMachine;
use neuron_types::{Decision, DurableContext, DurableError, RunEvent, RunState, Verdict, signal};
use serde_json::json;

use super::{World, asked, input, plain_output, ticket};
use crate::room::{Act, call, describe, model_options, options, request};

/// A state that tells itself from others.
fn state(turn: u32) -> RunState {
    let machine = AgentMachine::new(input(), chrono::DateTime::UNIX_EPOCH);
    RunState {
        turn,
        ..machine.state().clone()
    }
}

async fn begun(world: &World) -> JournaledContext {
    let door = world.door().await;
    door.run_start().await.unwrap();
    door
}

/// One turn, of three operations.
async fn turn(door: &JournaledContext, turn: u32) {
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
    assert_eq!(world.count("SELECT count(*) FROM steps"), 0);
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
        args: None,
        comment: None,
        approver: None,
        remember: false,
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

/// Steps as they stood before version 4.
const OLD_STEPS: &str = "
    DROP TABLE attempts;
    DROP TABLE steps;
    CREATE TABLE steps (
        run INTEGER NOT NULL REFERENCES runs (run),
        op INTEGER NOT NULL,
        kind TEXT NOT NULL,
        label TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        due_at INTEGER,
        result TEXT,
        at INTEGER,
        PRIMARY KEY (run, op)
    ) STRICT;
    CREATE TABLE attempts (
        run INTEGER NOT NULL,
        op INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        at INTEGER NOT NULL,
        failure TEXT,
        PRIMARY KEY (run, op, attempt),
        FOREIGN KEY (run, op) REFERENCES steps (run, op)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO steps SELECT run, 1, 'tool', 'one', 'one', NULL, NULL, NULL FROM runs;
    INSERT INTO attempts SELECT run, 1, 1, 0, NULL FROM runs;
    ALTER TABLE statuses DROP COLUMN seq;
    UPDATE runs SET version = 3;
    PRAGMA user_version = 3;
";

/// Makes the database that of version 3, in which runs had a version, or of one before: in version 2 `chapters` was new.
fn age(world: &World, version: i64) {
    let database = world.database();
    database.execute_batch(OLD_STEPS).unwrap();
    if version < 3 {
        database
            .execute_batch("ALTER TABLE runs DROP COLUMN version; PRAGMA user_version = 2;")
            .unwrap();
    }
    if version < 2 {
        database
            .execute_batch("DROP TABLE chapters; PRAGMA user_version = 1;")
            .unwrap();
    }
}

#[tokio::test]
async fn goes_on_with_no_run_of_a_version_before_but_shows_it() {
    for version in [1, 2, 3] {
        let world = World::new().await;
        let done = super::run_id("done");
        let journal = world.journal().await;
        journal.create_run(&done, input(), "local").await.unwrap();
        let door = begun(&world).await;
        turn(&door, 1).await;
        drop(door);
        let over = JournaledContext::open(&journal, &done, world.room.executor()).await;
        over.unwrap().finish(&plain_output(&done)).await.unwrap();
        drop(journal);
        age(&world, version);

        let opened = tokio::join!(
            Journal::open(world.home.path()),
            Journal::open(world.home.path())
        );
        assert!(opened.0.is_ok() && opened.1.is_ok());
        let journal = world.journal().await;
        let older = JournaledContext::open(&journal, &world.run_id, world.room.executor()).await;
        let Err(error @ JournalError::OlderRun { .. }) = older else {
            panic!("{older:?}");
        };
        let said = "run r was begun by an older neuron, and this one cannot go on with it: cancel it and \
                    start it again";
        assert_eq!(error.to_string(), said);
        assert!(!journal.is_executing(&world.run_id).unwrap());
        let output = journal.output(&done).await.unwrap();
        assert_eq!(output, Some(plain_output(&done)));
        let events = journal.events(&world.run_id, 0).await.unwrap();
        assert_eq!(describe(&events), ["1 turn_started"]);
        let ended = journal.cancel(&world.run_id, None).await.unwrap();
        assert!(ended.is_some());
        assert_eq!(world.room.calls().len(), 2);

        let new = super::run_id("new");
        journal.create_run(&new, input(), "local").await.unwrap();
        let door = JournaledContext::open(&journal, &new, world.room.executor()).await;
        let door = door.unwrap();
        door.run_start().await.unwrap();
        turn(&door, 1).await;
        door.continue_as_new(&state(1)).await.unwrap();
        door.finish(&plain_output(&new)).await.unwrap();
    }
}
