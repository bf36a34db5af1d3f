use neuron_engine::{PageRequest, RunClient as _, RunFilter};
use neuron_local::{Journal, JournalError, JournaledContext, LocalClient};
use neuron_types::{DurableContext, ExitReason, Refusal, RunEvent, RunId, RunPhase};

use super::{World, asked, ended, input, plain_output, run_id, ticket};
use crate::room::{describe, model_options, request};

#[tokio::test]
async fn makes_its_directory_and_keeps_it_from_others() {
    let parent = tempfile::TempDir::new().unwrap();
    let home = parent.path().join("a/b/.neuron");
    let journal = Journal::open(&home).await.unwrap();
    assert_eq!(journal.home(), home);
    assert!(home.join("neuron.db").is_file());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = home.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

/// Returns what others than the owner may do with each file of a journal that is open.
#[cfg(unix)]
fn rights_of_others(home: &std::path::Path) -> Vec<(String, u32)> {
    use std::os::unix::fs::PermissionsExt as _;

    let entries = std::fs::read_dir(home).unwrap();
    let files = entries.filter_map(|entry| {
        let entry = entry.unwrap();
        let found = entry.metadata().unwrap();
        let name = entry.file_name().into_string().unwrap();
        let rights = found.permissions().mode() & 0o077;
        found.is_file().then_some((name, rights))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[cfg(unix)]
fn chmod(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn its_files_are_their_owners_alone_in_a_directory_that_others_read() {
    let home = tempfile::TempDir::new().unwrap();
    chmod(home.path(), 0o755);
    let run = RunId::new("r1").unwrap();
    let journal = Journal::open(home.path()).await.unwrap();
    journal.create_run(&run, input(), "local").await.unwrap();
    let private = [".gitignore", "neuron.db", "neuron.db-shm", "neuron.db-wal"];
    let private = private.map(|name| (name.to_owned(), 0)).to_vec();
    assert_eq!(rights_of_others(home.path()), private);
    drop(journal);

    // As an older build left them.
    chmod(&home.path().join("neuron.db"), 0o644);
    let journal = Journal::open(home.path()).await.unwrap();
    assert_eq!(journal.status(&run).await.unwrap().state, RunPhase::Running);
    assert_eq!(rights_of_others(home.path()), private);
}

#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_everybody_may_write_into_is_refused() {
    let home = tempfile::TempDir::new().unwrap();
    chmod(home.path(), 0o1777);
    let error = Journal::open(home.path()).await.unwrap_err();
    assert!(matches!(error, JournalError::Exposed { .. }), "{error:?}");
    assert!(!home.path().join("neuron.db").exists());
}

#[tokio::test]
async fn stays_out_of_commits_also_where_it_was_before() {
    let parent = tempfile::TempDir::new().unwrap();
    let home = parent.path().join(".neuron");
    let ignore = home.join(".gitignore");
    drop(Journal::open(&home).await.unwrap());
    assert_eq!(std::fs::read_to_string(&ignore).unwrap(), "*\n");
    std::fs::remove_file(&ignore).unwrap();
    drop(Journal::open(&home).await.unwrap());
    assert_eq!(std::fs::read_to_string(&ignore).unwrap(), "*\n");

    // What a person wrote there stays.
    std::fs::write(&ignore, "neuron.db*\n").unwrap();
    drop(Journal::open(&home).await.unwrap());
    assert_eq!(std::fs::read_to_string(&ignore).unwrap(), "neuron.db*\n");
}

#[tokio::test]
async fn a_directory_with_files_of_others_ignores_none_of_them() {
    let home = tempfile::TempDir::new().unwrap();
    std::fs::write(home.path().join("thesis.tex"), "").unwrap();
    drop(Journal::open(home.path()).await.unwrap());
    assert!(!home.path().join(".gitignore").exists());
}

#[tokio::test]
async fn says_which_directory_it_cannot_make() {
    let parent = tempfile::TempDir::new().unwrap();
    let file = parent.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Journal::open(file.join("home")).await.unwrap_err();
    assert!(matches!(error, JournalError::Home { .. }));
    assert!(error.to_string().contains("file/home"), "{error}");
}

#[tokio::test]
async fn says_that_the_database_cannot_be_opened() {
    let home = tempfile::TempDir::new().unwrap();
    std::fs::create_dir(home.path().join("neuron.db")).unwrap();
    let error = Journal::open(home.path()).await.unwrap_err();
    assert!(matches!(error, JournalError::Access { .. }), "{error:?}");
}

#[tokio::test]
async fn keeps_a_run_for_later_processes() {
    let world = World::new().await;
    let journal = world.journal().await;
    assert_eq!(
        journal.load_request(&world.run_id).await.unwrap(),
        input().into()
    );
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::Running);
    assert_eq!(
        (status.engine.as_str(), status.agent.as_str()),
        ("local", "default")
    );
    assert_eq!(journal.output(&world.run_id).await.unwrap(), None);
    assert!(journal.events(&world.run_id, 0).await.unwrap().is_empty());
}

#[tokio::test]
async fn runs_of_one_id_in_two_homes_make_no_id_in_common() {
    let (here, there) = (World::new().await, World::new().await);
    assert_eq!(here.run_id, there.run_id);
    let id = here.door().await.uuid();
    assert_ne!(id, there.door().await.uuid());
    assert_eq!(id, here.door().await.uuid(), "the same in a replay");
}

#[tokio::test]
async fn keeps_the_directory_that_a_run_works_in() {
    let world = World::new().await;
    let journal = world.journal().await;
    let (run, directory) = (run_id("placed"), std::path::Path::new("/srv/shop"));
    let made = journal.create_run_in(directory, &run, input(), "local");
    made.await.unwrap();
    let found = journal.directory(&run).await.unwrap();
    assert_eq!(found.as_deref(), Some(directory));
    assert_eq!(journal.directory(&world.run_id).await.unwrap(), None);
}

#[tokio::test]
async fn refuses_a_second_run_of_the_same_id() {
    let world = World::new().await;
    let journal = world.journal().await;
    let error = journal.create_run(&world.run_id, input(), "local").await;
    assert!(matches!(error, Err(JournalError::RunExists { .. })));
}

#[tokio::test]
async fn lists_the_newest_runs_first() {
    let world = World::new().await;
    let journal = world.journal().await;
    for id in ["b", "a", "c"] {
        journal
            .create_run(&run_id(id), input(), "local")
            .await
            .unwrap();
    }
    let client = LocalClient::from(journal);
    let page = client.list(&RunFilter::all(), PageRequest::first(3)).await;
    let runs = page.unwrap().runs;
    let ids: Vec<&str> = runs.iter().map(|run| run.run_id.as_str()).collect();
    assert_eq!(ids, ["c", "a", "b"]);
}

#[tokio::test]
async fn knows_nothing_of_an_unknown_run() {
    let world = World::new().await;
    let journal = world.journal().await;
    let nobody = run_id("nobody");
    let errors = [
        journal.status(&nobody).await.unwrap_err(),
        journal.load_request(&nobody).await.unwrap_err(),
        journal.output(&nobody).await.unwrap_err(),
        journal.events(&nobody, 0).await.unwrap_err(),
        journal.cancel(&nobody, None).await.unwrap_err(),
        JournaledContext::open(&journal, &nobody, world.room.executor())
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, JournalError::UnknownRun { .. }));
    }
}

#[tokio::test]
async fn lists_the_open_tickets_of_one_run_or_of_all() {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = world.door_to(&journal).await;
    door.emit(asked(ticket("t1-1")));
    door.emit(asked(ticket("t1-2")));
    door.flush().await.unwrap();
    journal
        .create_run(&run_id("other"), input(), "local")
        .await
        .unwrap();

    let client = LocalClient::from(journal.clone());
    let tickets = async |run: Option<&RunId>| {
        let page = client.tickets(run, PageRequest::default()).await;
        page.unwrap().tickets
    };
    let of_all = tickets(None).await;
    assert_eq!(of_all, tickets(Some(&world.run_id)).await);
    let ids = of_all.iter().map(|open| open.ticket.ticket.as_str());
    assert_eq!(ids.collect::<Vec<_>>(), ["t1-1", "t1-2"]);
    assert!(tickets(Some(&run_id("other"))).await.is_empty());

    door.emit(ended());
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    assert!(tickets(None).await.is_empty());
}

#[tokio::test]
async fn ends_a_run_with_its_output_status_and_events_in_one() {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = world.door_to(&journal).await;
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.emit(ended());
    let output = plain_output(&world.run_id);
    door.finish(&output).await.unwrap();
    drop(door);

    assert_eq!(journal.output(&world.run_id).await.unwrap(), Some(output));
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
    assert_eq!(status.last_message.as_deref(), Some("done"));
    let events = journal.events(&world.run_id, 0).await.unwrap();
    assert_eq!(describe(&events), ["1 turn_started", "2 run_ended"]);
    let newer = journal.events(&world.run_id, 1).await.unwrap();
    assert_eq!(describe(&newer), ["2 run_ended"]);
    assert!(!journal.is_executing(&world.run_id).unwrap());
    let error = JournaledContext::open(&journal, &world.run_id, world.room.executor()).await;
    assert!(matches!(
        error,
        Err(JournalError::Refused(Refusal::RunOver { .. }))
    ));
    let locks = std::fs::read_dir(world.home.path().join("locks")).unwrap();
    assert_eq!(locks.count(), 1, "only the journal's own lock file stays");
}

#[tokio::test]
async fn ends_a_run_whose_workflow_tells_no_end() {
    let world = World::new().await;
    let door = world.door().await;
    door.finish(&plain_output(&world.run_id)).await.unwrap();
    let status = world.journal().await.status(&world.run_id).await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
}

#[tokio::test]
async fn does_not_end_a_run_that_waits_for_a_person() {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = world.door_to(&journal).await;
    door.emit(asked(ticket("t1-1")));
    let status = journal.status(&world.run_id).await.unwrap();
    let mut parked = status.output(None);
    parked.state = RunPhase::WaitingForApproval;
    door.finish(&parked).await.unwrap();
    drop(door);
    let open = journal.status(&world.run_id).await.unwrap().approvals;
    assert_eq!(open.len(), 1);
    assert_eq!(journal.output(&world.run_id).await.unwrap(), None);
    drop(world.door().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn lets_one_executor_have_a_run() {
    let world = World::new().await;
    let (here, there) = (world.journal().await, world.journal().await);
    let door = world.door_to(&here).await;
    assert!(there.is_executing(&world.run_id).unwrap());
    for journal in [&here, &there] {
        let error = JournaledContext::open(journal, &world.run_id, world.room.executor())
            .await
            .unwrap_err();
        assert!(matches!(error, JournalError::Executing { .. }));
    }
    drop(door);
    assert!(!there.is_executing(&world.run_id).unwrap());
    drop(world.door_to(&there).await);
}

#[tokio::test]
async fn refuses_a_journal_of_a_newer_neuron_and_leaves_it_alone() {
    let world = World::new().await;
    let database = world.database();
    database.pragma_update(None, "user_version", 7).unwrap();
    drop(database);
    let error = Journal::open(world.home.path()).await.unwrap_err();
    assert!(matches!(error, JournalError::Newer { found: 7, .. }));
    assert!(error.to_string().contains("newer neuron"));
    assert_eq!(world.count("PRAGMA user_version"), 7);
    assert_eq!(world.count("SELECT count(*) FROM runs"), 1);
}

#[tokio::test]
async fn refuses_the_database_of_another_program() {
    let home = tempfile::TempDir::new().unwrap();
    let path = home.path().join("neuron.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE theirs (a)").unwrap();
    drop(other);
    let error = Journal::open(home.path()).await.unwrap_err();
    assert!(matches!(error, JournalError::Foreign { .. }));
}

#[tokio::test]
async fn says_that_the_database_is_damaged() {
    let home = tempfile::TempDir::new().unwrap();
    let path = home.path().join("neuron.db");
    std::fs::write(&path, "this is no database".repeat(300)).unwrap();
    let error = Journal::open(home.path()).await.unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("damaged"));
}

#[tokio::test]
async fn says_that_a_page_of_the_database_is_damaged() {
    let world = World::new().await;
    let database = world.database();
    // Everything into the one file, and rubbish over all but its first page.
    database
        .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
        .unwrap();
    drop(database);
    let path = world.home.path().join("neuron.db");
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0xa5;
    }
    std::fs::write(&path, bytes).unwrap();
    let journal = Journal::open(world.home.path()).await.unwrap();
    let error = journal.status(&world.run_id).await.unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error:?}");
}

#[tokio::test]
async fn says_that_a_row_cannot_be_read() {
    let world = World::new().await;
    world
        .database()
        .execute("UPDATE statuses SET status = '{}'", [])
        .unwrap();
    let error = world
        .journal()
        .await
        .status(&world.run_id)
        .await
        .unwrap_err();
    assert!(
        matches!(error, JournalError::Unreadable { .. }),
        "{error:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn opens_from_many_places_at_once() {
    let home = tempfile::TempDir::new().unwrap();
    let opens = (0..8).map(|n| {
        let home = home.path().to_path_buf();
        async move {
            let journal = Journal::open(home).await.unwrap();
            journal
                .create_run(&run_id(&format!("r{n}")), input(), "local")
                .await
                .unwrap();
        }
    });
    futures::future::join_all(opens).await;
    let client = LocalClient::new(home.path());
    let page = client.list(&RunFilter::all(), PageRequest::default()).await;
    assert_eq!(page.unwrap().runs.len(), 8);
}

#[tokio::test]
async fn shows_usage_and_turns_in_the_status() {
    let world = World::new().await;
    let journal = world.journal().await;
    let door = world.door_to(&journal).await;
    door.emit(RunEvent::TurnStarted { turn: 1 });
    let answer = door
        .execute_llm_call(&request(1), &model_options(1))
        .await
        .unwrap();
    door.emit(RunEvent::ModelResponded {
        turn: 1,
        stop_reason: answer.stop_reason,
        text: Some("hello".into()),
        usage: answer.usage,
        cost_usd: None,
        model: None,
        spent_before: None,
    });
    door.flush().await.unwrap();
    let status = journal.status(&world.run_id).await.unwrap();
    assert_eq!(status.turn, 1);
    assert_eq!(status.usage.input_tokens, 10);
    assert_eq!(status.last_message.as_deref(), Some("hello"));
    assert_eq!(status.output(Some(ExitReason::Complete)).cost_usd, None);
}
