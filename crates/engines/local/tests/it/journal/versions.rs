//! Runs that a build with another form of the run state started.

use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_local::{JournalError, JournaledContext, LocalClient};
use neuron_types::{ExitReason, RunPhase, RunState};
use rusqlite::params;
use serde_json::Value;

use super::{World, ended, plain_output};

/// The input of a run, and its state in the middle of a turn, as version 1 wrote them.
const VERSION_1: &str = include_str!("version_1.json");

/// Returns a world with a run that version 1 left in its second segment.
async fn left_by_version_1() -> World {
    let world = World::new().await;
    let recorded: Value = serde_json::from_str(VERSION_1).unwrap();
    let database = world.database();
    database
        .execute(
            "UPDATE runs SET input = ?1",
            [recorded["input"].to_string()],
        )
        .unwrap();
    database
        .execute(
            "INSERT INTO chapters (run, chapter, op, seq, uuids, at, state) \
             VALUES (1, 2, 1, 4, 0, 0, ?1)",
            params![recorded["state"].to_string()],
        )
        .unwrap();
    world
}

#[tokio::test]
async fn an_unfinished_run_of_version_1_is_refused_in_one_sentence() {
    let world = left_by_version_1().await;
    let journal = world.journal().await;
    let opened = JournaledContext::open(&journal, &world.run_id, world.room.executor()).await;
    for error in [
        opened.unwrap_err(),
        journal.load_request(&world.run_id).await.unwrap_err(),
    ] {
        assert!(
            matches!(
                error,
                JournalError::OtherVersion {
                    found: 1,
                    known: 4,
                    ..
                }
            ),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            "run r has version 1 of the run state, and this build reads version 4: \
             finish it with the build that started it"
        );
    }
    let output = journal.cancel(&world.run_id, None).await.unwrap();
    assert_eq!(output.unwrap().exit_reason, Some(ExitReason::Cancelled));
}

#[tokio::test]
async fn a_run_that_a_newer_version_continued_is_left_to_it() {
    let world = left_by_version_1().await;
    let database = world.database();
    database
        .execute(
            "UPDATE runs SET input = json_set(input, '$.version', 4)",
            [],
        )
        .unwrap();
    database
        .execute(
            "UPDATE chapters SET state = json_set(state, '$.version', 5)",
            [],
        )
        .unwrap();
    let journal = world.journal().await;
    let opened = JournaledContext::open(&journal, &world.run_id, world.room.executor()).await;
    assert_eq!(
        opened.unwrap_err().to_string(),
        "run r was written by a newer version of neuron: state version 5, this one knows up to 4: \
         resume it with that version"
    );
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::Running);
}

#[tokio::test]
async fn a_finished_run_of_version_1_stays_readable() {
    let world = World::new().await;
    let door = world.door().await;
    drop(door.run_start().await.unwrap());
    neuron_types::DurableContext::emit(&door, ended());
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    let recorded: Value = serde_json::from_str(VERSION_1).unwrap();
    world
        .database()
        .execute(
            "UPDATE runs SET input = ?1",
            [recorded["input"].to_string()],
        )
        .unwrap();

    let journal = world.journal().await;
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
    let client = LocalClient::from(journal.clone());
    let all = RunFilter::all();
    let page = client.list(&all, PageRequest::first(1)).await.unwrap();
    assert_eq!(page.runs, [status]);
    let output = journal.output(&world.run_id).await.unwrap().unwrap();
    assert_eq!(output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(journal.events(&world.run_id, 0).await.unwrap().len(), 1);
}

#[test]
fn a_state_of_version_1_says_what_it_is_wherever_it_is_read() {
    let recorded: Value = serde_json::from_str(VERSION_1).unwrap();
    let state = recorded["state"].to_string();
    let error = serde_json::from_str::<RunState>(&state).unwrap_err();
    assert!(
        error.to_string().contains("version 1 of the run state"),
        "{error}"
    );
}
