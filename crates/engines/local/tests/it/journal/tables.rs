//! Databases with the tables of a version before.

use neuron_local::{Journal, JournalError, JournaledContext};
use neuron_types::{DurableContext, FailureKind};

use super::{
    EVENTS, World, ended, input,
    order::{self, start},
    plain_output, run_id,
    segments::{begun, state, turn},
    steps::{die_in, failure},
};
use crate::room::{Act, call, describe, options};

/// Runs as they were stored before version 6.
const VERSION_5: &str = "
    ALTER TABLE runs DROP COLUMN seed;
    ALTER TABLE runs DROP COLUMN directory;
    UPDATE runs SET version = 5;
    PRAGMA user_version = 5;
";

/// Steps and events as they were stored in version 4.
const VERSION_4: &str = "
    CREATE TABLE events (
        run   INTEGER NOT NULL REFERENCES runs (run),
        seq   INTEGER NOT NULL,
        at    INTEGER NOT NULL,
        event TEXT NOT NULL,
        PRIMARY KEY (run, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO events
        SELECT run, seq - json_array_length(events) + 1 + told.key, told.value ->> 0, told.value -> 1
        FROM entries, json_each(events) AS told;
    CREATE TABLE steps (
        id          INTEGER PRIMARY KEY,
        run         INTEGER NOT NULL,
        op          INTEGER NOT NULL,
        kind        TEXT NOT NULL,
        label       TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        due_at      INTEGER,
        result      TEXT,
        at          INTEGER,
        place       INTEGER
    ) STRICT;
    INSERT INTO steps
        SELECT (run << 32) + op, run, op, kind, label, fingerprint, NULL, result, at, id & 4294967295
        FROM entries WHERE op IS NOT NULL;
    INSERT OR IGNORE INTO steps
        SELECT (run << 32) + op, run, op, 'tool', label, fingerprint, max(due_at), NULL, NULL, NULL
        FROM attempts GROUP BY run, op;
    ALTER TABLE attempts DROP COLUMN due_at;
    ALTER TABLE attempts DROP COLUMN label;
    ALTER TABLE attempts DROP COLUMN fingerprint;
    DROP TABLE entries;
    ALTER TABLE chapters DROP COLUMN place;
    UPDATE runs SET version = 4;
    PRAGMA user_version = 4;
";

/// Steps as they were stored before version 4.
const VERSION_3: &str = "
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

/// Makes the database that of a version before: in version 3 runs had a version, in version 2 `chapters` was new.
fn age(world: &World, version: i64) {
    let database = world.database();
    database.execute_batch(VERSION_5).unwrap();
    if version < 5 {
        database.execute_batch(VERSION_4).unwrap();
    }
    if version < 4 {
        database.execute_batch(VERSION_3).unwrap();
    }
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

/// Returns a world with a run that is over beside its own.
async fn with_one_done() -> (World, Journal) {
    let world = World::new().await;
    let (done, journal) = (run_id("done"), world.journal().await);
    journal.create_run(&done, input(), "local").await.unwrap();
    let over = JournaledContext::open(&journal, &done, world.room.executor()).await;
    let over = over.unwrap();
    over.emit(ended());
    over.finish(&plain_output(&done)).await.unwrap();
    (world, journal)
}

/// Opens the journal twice at once, as two processes may.
async fn opened(world: &World) -> Journal {
    let path = world.home.path();
    let opened = tokio::join!(Journal::open(path), Journal::open(path));
    assert!(opened.0.is_ok());
    opened.1.unwrap()
}

#[tokio::test]
async fn goes_on_with_no_run_of_a_version_before_4_but_shows_it() {
    for version in [1, 2, 3] {
        let (world, journal) = with_one_done().await;
        let door = begun(&world).await;
        turn(&door, 1).await;
        drop((door, journal));
        age(&world, version);

        let journal = opened(&world).await;
        let older = JournaledContext::open(&journal, &world.run_id, world.room.executor()).await;
        let Err(error @ JournalError::OlderRun { .. }) = older else {
            panic!("{older:?}");
        };
        let said = "run r was begun by an older neuron, and this one cannot continue it: cancel it and start it again";
        assert_eq!(error.to_string(), said);
        assert!(!journal.is_executing(&world.run_id).unwrap());
        let done = run_id("done");
        let output = journal.output(&done).await.unwrap();
        assert_eq!(output, Some(plain_output(&done)));
        let events = journal.events(&done, 0).await.unwrap();
        assert_eq!(describe(&events), ["1 run_ended"]);
        let events = journal.events(&world.run_id, 0).await.unwrap();
        assert_eq!(describe(&events), ["1 turn_started"]);
        let ended = journal.cancel(&world.run_id, None).await.unwrap();
        assert!(ended.is_some());
        assert_eq!(world.room.calls().len(), 2);

        let new = run_id("new");
        journal.create_run(&new, input(), "local").await.unwrap();
        let door = JournaledContext::open(&journal, &new, world.room.executor()).await;
        let door = door.unwrap();
        door.run_start().await.unwrap();
        turn(&door, 1).await;
        door.continue_as_new(&state(1)).await.unwrap();
        door.finish(&plain_output(&new)).await.unwrap();
    }
}

#[tokio::test]
async fn goes_on_with_a_run_of_version_5_which_makes_the_same_ids() {
    let world = World::new().await;
    age(&world, 5);
    let door = world.door().await;
    turn(&door, 1).await;
    let id = door.uuid();
    drop(door);
    let door = world.door().await;
    turn(&door, 1).await;
    assert_eq!(door.uuid(), id);
    assert_eq!(world.room.calls().len(), 2, "none was made again");
}

#[tokio::test]
async fn goes_on_with_a_run_of_version_4_and_shows_it_as_it_was() {
    let (world, journal) = with_one_done().await;
    let door = begun(&world).await;
    turn(&door, 1).await;
    door.continue_as_new(&state(1)).await.unwrap();
    turn(&door, 2).await;
    drop(door);
    let runs = [world.run_id.clone(), run_id("done")];
    let mut shown = Vec::new();
    for run in &runs {
        let events = journal.events(run, 0).await.unwrap();
        shown.push((events, journal.status(run).await.unwrap()));
    }
    drop(journal);
    age(&world, 4);

    let journal = opened(&world).await;
    for (run, (events, status)) in runs.iter().zip(&shown) {
        assert_eq!(journal.events(run, 0).await.unwrap(), *events);
        assert_eq!(journal.events(run, 1).await.unwrap(), events[1..]);
        assert_eq!(journal.status(run).await.unwrap(), *status);
    }
    let output = journal.output(&runs[1]).await.unwrap();
    assert_eq!(output, Some(plain_output(&runs[1])));
    assert_eq!(world.count(EVENTS), 3);

    let door = world.door().await;
    assert_eq!(door.run_start().await.unwrap(), state(1).into());
    turn(&door, 2).await;
    assert_eq!(world.room.calls().len(), 4, "none was made again");
    turn(&door, 3).await;
    door.continue_as_new(&state(3)).await.unwrap();
    turn(&door, 4).await;
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    assert_eq!(world.room.calls().len(), 8);
    let events = journal.events(&world.run_id, 0).await.unwrap();
    let told: Vec<String> = (1..=4).map(|seq| format!("{seq} turn_started")).collect();
    assert_eq!(describe(&events), told);
}

#[tokio::test(start_paused = true)]
async fn observes_the_ends_of_version_4_in_their_order() {
    let fails = Act::fail(FailureKind::Unavailable);
    let world = World::acting([fails, Act::Answer]).await;
    for is_older in [false, true] {
        if is_older {
            age(&world, 4);
        }
        let door = world.door().await;
        let both = [start(&door, "put", 1), start(&door, "read", 2)];
        let order = [
            order::ended(&door, &both).await,
            order::ended(&door, &both).await,
        ];
        assert_eq!(order, [both[1], both[0]]);
    }
    assert_eq!(world.room.calls().len(), 3);
}

#[tokio::test]
async fn knows_of_a_write_that_version_4_lost() {
    let world = World::acting([Act::Hang]).await;
    die_in(&world, "write").await;
    age(&world, 4);
    let door = world.door().await;
    let result = door
        .execute_tool(&call("write"), &options("write", 1, 1))
        .await;
    assert_eq!(failure(result).kind, FailureKind::OutcomeUnknown);
    assert_eq!(world.room.calls(), ["write r:1:1"]);
}
