//! Stored conversations: one suite for every storage, and which run has which session.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use chrono::{DateTime, TimeDelta, Utc};
use neuron_engine::RunClient as _;
use neuron_executor::{SessionTaker, Sessions as _};
use neuron_local::{
    FileSessionStorage, InMemorySessionStorage, Journal, LocalClient, Session, SessionError,
    SessionManager, SessionRun, SessionStorage, SessionSummary, SqliteSessionStorage, StorageError,
    StoredSessions, conversation_of,
};
use neuron_types::{
    ContentBlock, ContentItem, ExitReason, FailureKind, Message, Role, RunId, RunOutput, RunPhase,
    RunRequest, SessionName, TokenUsage, Transcript, TranscriptEntry, TranscriptItem,
    WasmBoxedFuture,
};
use serde_json::json;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn session(id: &str, seconds: i64) -> Session {
    let mut session = Session::new(id, at(seconds));
    session.messages = vec![Message::user("hello"), Message::user("and again")];
    session
        .state
        .custom
        .insert("tone".to_owned(), json!({"formal": true}));
    session
}

async fn what_was_saved_is_loaded(storage: &dyn SessionStorage) {
    let one = session("one", 1);
    assert_eq!(storage.save(&one).await.unwrap(), 1);
    let loaded = storage.load("one").await.unwrap();
    assert_eq!(loaded, Session { revision: 1, ..one });
    let error = storage.load("none").await.unwrap_err();
    assert!(matches!(error, StorageError::NotFound { .. }), "{error}");
}

async fn of_two_who_loaded_the_same_one_saves(storage: &dyn SessionStorage) {
    storage.save(&session("shared", 1)).await.unwrap();
    let (mut mine, mut theirs) = (
        storage.load("shared").await.unwrap(),
        storage.load("shared").await.unwrap(),
    );
    mine.messages.push(Message::user("mine"));
    theirs.messages.push(Message::user("theirs"));
    assert_eq!(storage.save(&mine).await.unwrap(), 2);
    let error = storage.save(&theirs).await.unwrap_err();
    assert!(matches!(error, StorageError::Conflict { .. }), "{error}");
    let error = storage.save(&session("shared", 1)).await.unwrap_err();
    assert!(matches!(error, StorageError::Conflict { .. }), "{error}");
    let stored = storage.load("shared").await.unwrap();
    assert_eq!(stored.messages, mine.messages);
}

async fn a_session_that_was_deleted_is_gone(storage: &dyn SessionStorage) {
    storage.save(&session("gone", 1)).await.unwrap();
    let loaded = storage.load("gone").await.unwrap();
    storage.delete(&loaded).await.unwrap();
    for error in [
        storage.delete(&loaded).await.unwrap_err(),
        storage.load("gone").await.unwrap_err(),
    ] {
        assert!(matches!(error, StorageError::NotFound { .. }), "{error}");
    }
    let error = storage.save(&loaded).await.unwrap_err();
    assert!(matches!(error, StorageError::Conflict { .. }), "{error}");
}

async fn what_was_saved_since_it_was_loaded_is_not_deleted(storage: &dyn SessionStorage) {
    storage.save(&session("busy", 1)).await.unwrap();
    let loaded = storage.load("busy").await.unwrap();
    storage.save(&loaded).await.unwrap();
    let error = storage.delete(&loaded).await.unwrap_err();
    assert!(matches!(error, StorageError::Conflict { .. }), "{error}");
    let now = storage.load("busy").await.unwrap();
    assert_eq!(now.revision, 2);
    storage.delete(&now).await.unwrap();
}

async fn one_that_was_made_anew_is_another_one(storage: &dyn SessionStorage) {
    storage.save(&session("anew", 1)).await.unwrap();
    let before = storage.load("anew").await.unwrap();
    storage.delete(&before).await.unwrap();
    storage.save(&session("anew", 2)).await.unwrap();
    let now = storage.load("anew").await.unwrap();
    assert_eq!(now.revision, before.revision);
    for error in [
        storage.save(&before).await.map(drop).unwrap_err(),
        storage.delete(&before).await.unwrap_err(),
    ] {
        assert!(matches!(error, StorageError::Conflict { .. }), "{error}");
    }
    assert_eq!(storage.load("anew").await.unwrap(), now);
}

async fn names_lead_nowhere_else(storage: &dyn SessionStorage) {
    for name in ["", "../x", "a/b", ".hidden", "a b", &"x".repeat(129)] {
        let errors = [
            storage.load(name).await.unwrap_err(),
            storage.save(&session(name, 1)).await.unwrap_err(),
            storage.delete(&session(name, 1)).await.unwrap_err(),
        ];
        for error in errors {
            assert!(
                matches!(error, StorageError::InvalidId(_)),
                "{name}: {error}"
            );
        }
    }
}

async fn the_sessions_of_a_run_are_found(storage: &dyn SessionStorage) {
    let mut held = session("held", 1);
    held.run = Some(run("r1"));
    let mut of_another = session("of-another", 2);
    // A run's id also is in what was said.
    of_another.messages.push(Message::user("what did r1 say?"));
    of_another.run = Some(run("r12"));
    for session in [&held, &of_another, &session("free", 3)] {
        storage.save(session).await.unwrap();
    }
    let found = storage.held_by(&RunId::new("r1").unwrap()).await.unwrap();
    let names: Vec<_> = found.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(names, ["held"]);
}

async fn lists_begin_with_the_newest(storage: &dyn SessionStorage) {
    for (name, seconds) in [("b", 20), ("a", 30), ("c", 10)] {
        storage.save(&session(name, seconds)).await.unwrap();
    }
    let listed = storage.list().await.unwrap();
    let names: Vec<_> = listed.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(listed.iter().all(|session| session.messages == 2));
}

/// Runs the suite, each part on a storage of its own.
macro_rules! suite {
    ($($storage:ident: $open:expr;)*) => {
        $(mod $storage {
            use super::*;

            suite!(@ $open, what_was_saved_is_loaded, of_two_who_loaded_the_same_one_saves,
                a_session_that_was_deleted_is_gone, what_was_saved_since_it_was_loaded_is_not_deleted,
                one_that_was_made_anew_is_another_one, names_lead_nowhere_else, the_sessions_of_a_run_are_found, lists_begin_with_the_newest);
        })*
    };
    (@ $open:expr, $($part:ident),*) => {
        $(#[tokio::test]
        async fn $part() {
            let home = tempfile::tempdir().unwrap();
            let open: fn(std::path::PathBuf) -> futures::future::BoxFuture<'static, Box<dyn SessionStorage>> = $open;
            let storage = open(home.path().join("sessions")).await;
            super::$part(&*storage).await;
        })*
    };
}

suite! {
    in_memory: |_| Box::pin(async { Box::new(InMemorySessionStorage::new()) as Box<dyn SessionStorage> });
    in_files: |path| Box::pin(async { Box::new(FileSessionStorage::new(path)) as Box<dyn SessionStorage> });
    in_sqlite: |path| Box::pin(async move {
        Box::new(SqliteSessionStorage::open(path.join("sessions.db")).await.unwrap()) as Box<dyn SessionStorage>
    });
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_hides_no_other_session() {
    let home = tempfile::tempdir().unwrap();
    let storage = FileSessionStorage::new(home.path());
    storage.save(&session("whole", 1)).await.unwrap();
    std::fs::write(home.path().join("torn.json"), "{\"id\":").unwrap();
    let error = storage.load("torn").await.unwrap_err();
    assert!(matches!(error, StorageError::Unreadable { .. }), "{error}");
    let error = storage.save(&session("torn", 1)).await.unwrap_err();
    assert!(matches!(error, StorageError::Unreadable { .. }), "{error}");
    assert_eq!(storage.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn many_writers_of_one_session_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("sessions.db");
    let storages: [Arc<dyn SessionStorage>; 2] = [
        Arc::new(FileSessionStorage::new(home.path())),
        Arc::new(SqliteSessionStorage::open(path).await.unwrap()),
    ];
    for storage in storages {
        storage.save(&session("busy", 1)).await.unwrap();
        let writers = (0..8).map(|writer| {
            let storage = Arc::clone(&storage);
            tokio::spawn(async move {
                loop {
                    let mut loaded = storage.load("busy").await.unwrap();
                    loaded.messages.push(Message::user(format!("{writer}")));
                    match storage.save(&loaded).await {
                        Ok(_) => return,
                        Err(StorageError::Conflict { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let stored = storage.load("busy").await.unwrap();
        assert_eq!((stored.messages.len(), stored.revision), (10, 9));
    }
}

fn run(id: &str) -> SessionRun {
    on("local", id)
}

fn on(engine: &str, id: &str) -> SessionRun {
    SessionRun::new(RunId::new(id).unwrap(), engine)
}

fn output(id: &str) -> RunOutput {
    RunOutput {
        run_id: RunId::new(id).unwrap(),
        engine: "local".to_owned(),
        agent: "default".to_owned(),
        state: RunPhase::Completed,
        exit_reason: Some(ExitReason::Complete),
        output: Some("Hi.".to_owned()),
        turns: 1,
        usage: TokenUsage {
            input_tokens: 3,
            output_tokens: 2,
            ..TokenUsage::default()
        },
        cost_usd: None,
        tree: None,
        reserved: Default::default(),
        pools: None,
        error: None,
        approvals: Vec::new(),
    }
}

fn transcript(id: &str, items: Vec<TranscriptItem>) -> Transcript {
    let entries = items.into_iter().map(|item| TranscriptEntry {
        turn: 1,
        at: at(1),
        item,
    });
    Transcript {
        run_id: RunId::new(id).unwrap(),
        entries: entries.collect(),
        incomplete: None,
    }
}

fn said(prompt: &str, answer: &str) -> Vec<TranscriptItem> {
    vec![
        TranscriptItem::Prompt {
            text: prompt.to_owned(),
        },
        TranscriptItem::Text {
            text: answer.to_owned(),
        },
    ]
}

#[tokio::test]
async fn runs_of_one_session_follow_each_other() {
    let sessions = SessionManager::new(InMemorySessionStorage::new());
    sessions.take("notes", run("r1")).await.unwrap();
    let error = sessions.take("notes", run("r2")).await.unwrap_err();
    let SessionError::Taken { by, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(by.run_id.as_str(), "r1", "the error names the first run");
    // A caller that starts the same run again has the session already.
    sessions.take("notes", run("r1")).await.unwrap();

    let first = transcript("r1", said("hello", "Hi."));
    for _ in 0..2 {
        // Taking a run in twice has the effect of once.
        sessions
            .take_in("notes", &run("r1"), &output("r1"), &first, None)
            .await
            .unwrap();
    }
    let session = sessions.take("notes", run("r2")).await.unwrap();
    assert_eq!(session.messages.len(), 2);
    assert_eq!(session.state.token_usage.total(), 5);
    // Nor is it taken in once more when the next run has the session.
    let session = sessions
        .take_in("notes", &run("r1"), &output("r1"), &first, None)
        .await
        .unwrap();
    assert_eq!(session.messages.len(), 2);
    assert_eq!(session.run.unwrap().run_id.as_str(), "r2");
    assert!(sessions.remove("notes").await.is_err(), "a run has it");
    sessions.release("notes", &run("r2")).await.unwrap();
    sessions.remove("notes").await.unwrap();
}

#[tokio::test]
async fn runs_of_one_id_on_two_engines_are_two() {
    let sessions = SessionManager::new(InMemorySessionStorage::new());
    sessions.take("notes", on("temporal", "x")).await.unwrap();
    let error = sessions.take("notes", run("x")).await.unwrap_err();
    let SessionError::Taken { by, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(by.engine, "temporal");
    let said = transcript("x", said("hello", "Hi."));
    let error = sessions
        .take_in("notes", &run("x"), &output("x"), &said, None)
        .await
        .unwrap_err();
    assert!(matches!(error, SessionError::NotWith { .. }), "{error}");
    sessions.release("notes", &run("x")).await.unwrap();
    let kept = sessions.open("notes").await.unwrap();
    assert!(kept.run.is_some(), "it is the other engine's");
    sessions
        .release("notes", &on("temporal", "x"))
        .await
        .unwrap();
    sessions.take("notes", run("x")).await.unwrap();
}

#[tokio::test]
async fn a_turn_whose_session_is_gone_is_not_lost_in_silence() {
    let sessions = SessionManager::new(InMemorySessionStorage::new());
    let said = transcript("r1", said("hello", "Hi."));
    let (r1, output) = (run("r1"), output("r1"));
    let take_in = || sessions.take_in("notes", &r1, &output, &said, None);
    sessions.take("notes", r1.clone()).await.unwrap();
    sessions.release("notes", &r1).await.unwrap();
    // The session was taken from the run, and no run has it.
    let error = take_in().await.unwrap_err();
    assert!(matches!(error, SessionError::NotWith { .. }), "{error}");
    sessions.remove("notes").await.unwrap();
    let error = take_in().await.unwrap_err();
    assert!(matches!(error, SessionError::Gone { .. }), "{error}");
    // A session of the same name is another one.
    sessions.take("notes", run("r2")).await.unwrap();
    let error = take_in().await.unwrap_err();
    assert!(matches!(error, SessionError::NotWith { .. }), "{error}");
    assert!(sessions.open("notes").await.unwrap().messages.is_empty());
}

#[tokio::test]
async fn a_session_is_given_back_in_the_place_of_its_run_only() {
    let sessions = SessionManager::new(InMemorySessionStorage::new());
    let at = |place: &str| on("temporal", "x").in_place(place);
    let said = transcript("x", said("hello", "Hi."));
    let output = RunOutput {
        engine: "temporal".to_owned(),
        ..output("x")
    };
    sessions.take("notes", at("temporal:one")).await.unwrap();
    let elsewhere = at("temporal:two");
    let taken = sessions.take_in("notes", &elsewhere, &output, &said, None);
    let error = taken.await.unwrap_err();
    assert!(matches!(error, SessionError::NotWith { .. }), "{error}");
    let here = at("temporal:one");
    let taken = sessions.take_in("notes", &here, &output, &said, None);
    assert_eq!(taken.await.unwrap().messages.len(), 2);
}

/// A storage in which a run takes a session up and is taken in after another caller has loaded it.
#[derive(Clone)]
struct Busy(Arc<InMemorySessionStorage>, Arc<AtomicBool>);

impl SessionStorage for Busy {
    fn save<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<u64, StorageError>> {
        self.0.save(session)
    }

    fn load<'a>(&'a self, id: &'a str) -> WasmBoxedFuture<'a, Result<Session, StorageError>> {
        Box::pin(async move {
            let loaded = self.0.load(id).await?;
            if self.1.swap(false, Ordering::Relaxed) {
                let mut meanwhile = loaded.clone();
                meanwhile.messages.push(Message::user("a turn"));
                self.0.save(&meanwhile).await?;
            }
            Ok(loaded)
        })
    }

    fn list(&self) -> WasmBoxedFuture<'_, Result<Vec<SessionSummary>, StorageError>> {
        self.0.list()
    }

    fn delete<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<(), StorageError>> {
        self.0.delete(session)
    }
}

#[tokio::test]
async fn a_session_that_changes_while_it_is_forgotten_is_kept() {
    let storage = Busy(Arc::default(), Arc::default());
    storage.save(&session("notes", 1)).await.unwrap();
    let sessions = SessionManager::new(storage.clone());
    storage.1.store(true, Ordering::Relaxed);
    let error = sessions.remove("notes").await.unwrap_err();
    let conflict = matches!(error, SessionError::Storage(StorageError::Conflict { .. }));
    assert!(conflict, "{error}");
    assert_eq!(sessions.open("notes").await.unwrap().messages.len(), 3);
    sessions.remove("notes").await.unwrap();
}

#[test]
fn runs_of_one_id_in_two_places_of_an_engine_are_two() {
    let unknown = on("temporal", "x");
    let here = on("temporal", "x").in_place("temporal:default");
    let there = on("temporal", "x").in_place("temporal:staging");
    assert!(!here.is_same_run(&there));
    assert!(
        here.is_same_run(&unknown),
        "an older version did not say it"
    );
}

#[test]
fn a_run_of_which_no_engine_is_stored_is_local() {
    let stored = json!({ "run_id": "x", "since": "2026-01-01T00:00:00Z" });
    let read: SessionRun = serde_json::from_value(stored).unwrap();
    assert!(read.is_same_run(&run("x")));
}

#[tokio::test]
async fn a_session_is_imported_once_and_is_free() {
    let sessions = SessionManager::new(InMemorySessionStorage::new());
    sessions.take("notes", run("r1")).await.unwrap();
    let exported = sessions.open("notes").await.unwrap();
    let elsewhere = SessionManager::new(InMemorySessionStorage::new());
    let imported = elsewhere.import(exported.clone()).await.unwrap();
    assert_eq!((imported.run, imported.revision), (None, 1));
    let error = elsewhere.import(exported).await.unwrap_err();
    assert!(matches!(error, StorageError::Conflict { .. }), "{error}");
}

#[test]
fn every_call_that_is_kept_has_its_result_behind_it() {
    let call = |id: &str| TranscriptItem::ToolCall {
        call_id: id.to_owned(),
        tool: "grep".to_owned(),
        args: json!({}),
    };
    let mut items = said("find it", "I look.");
    items.extend([call("c1"), call("c2")]);
    items.push(TranscriptItem::ToolResult {
        call_id: "c2".to_owned(),
        tool: "grep".to_owned(),
        is_error: false,
        failure: None,
        content: Some(vec![ContentItem::Text("here".to_owned())]),
    });
    items.push(TranscriptItem::Thinking {
        text: "so it is".to_owned(),
    });
    items.extend(said("and now?", "Done."));
    let messages = conversation_of(&transcript("r1", items));
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::User, Role::Assistant]
    );
    let ids = |message: &Message| -> Vec<String> {
        let blocks = message.content.iter();
        let ids = blocks.filter_map(|block| match block {
            ContentBlock::ToolUse { id, .. } => Some(id.clone()),
            ContentBlock::ToolResult(result) => Some(result.tool_use_id.clone()),
            _ => None,
        });
        ids.collect()
    };
    assert_eq!(ids(&messages[1]), ["c1", "c2"]);
    let mut answered = ids(&messages[2]);
    answered.sort();
    assert_eq!(answered, ["c1", "c2"]);
    assert!(!format!("{messages:?}").contains("so it is"));
}

/// Sessions in memory, their giver to the runs in a home directory, and the client of these runs.
struct HandingOut {
    _home: tempfile::TempDir,
    client: Arc<LocalClient>,
    sessions: SessionManager,
    stored: StoredSessions,
}

async fn handing_out() -> HandingOut {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path()).await.unwrap();
    let client = Arc::new(LocalClient::from(journal));
    let sessions = SessionManager::new(InMemorySessionStorage::new());
    let stored = StoredSessions::new(sessions.clone(), client.clone() as _);
    HandingOut {
        _home: home,
        client,
        sessions,
        stored,
    }
}

fn taker<'a>(
    session: &'a SessionName,
    tenant: Option<&'a str>,
    run_id: &'a RunId,
) -> SessionTaker<'a> {
    SessionTaker {
        session,
        tenant,
        run_id,
    }
}

#[tokio::test]
async fn a_run_that_asks_again_has_its_session_once_and_others_wait_for_its_end() {
    let place = handing_out().await;
    let (client, sessions, stored) = (&place.client, &place.sessions, &place.stored);
    let name = SessionName::new("notes").unwrap();
    let [first, second] = ["r1", "r2"].map(|id| RunId::new(id).unwrap());
    let request = || RunRequest::new("default", Message::user("hello"));
    for run in [&first, &second] {
        client.start(run, request()).await.unwrap();
    }
    for _ in 0..2 {
        let said = stored.take(taker(&name, None, &first)).await.unwrap();
        assert!(said.is_empty());
    }
    let failure = stored.take(taker(&name, None, &second)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidRequest);
    assert!(failure.message.contains("taken by run r1"), "{failure}");
    // A tenant has its own, whatever its name.
    let long = "x".repeat(500);
    for tenant in ["acme", "", "../x", "ä b", "Acme", &long] {
        let said = stored
            .take(taker(&name, Some(tenant), &second))
            .await
            .unwrap();
        assert!(said.is_empty());
    }
    let listed = sessions.list().await.unwrap();
    let mut names: Vec<_> = listed.iter().map(|session| session.id.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "hashed-c38c2bf3055c516a98ac5d97f30e7c364e827bc0..notes",
        "notes",
        "tenant-..notes",
        "tenant-_2e_2e_2fx..notes",
        "tenant-_41cme..notes",
        "tenant-_c3_a4_20b..notes",
        "tenant-acme..notes",
    ];
    assert_eq!(names, expected);
    client.cancel(&first, None).await.unwrap();
    let said = stored.take(taker(&name, None, &second)).await.unwrap();
    assert!(
        said.is_empty(),
        "nothing was said in a run that never began"
    );
}

#[test]
fn a_result_that_came_behind_a_message_is_the_result_of_its_call() {
    let call = |id: &str| TranscriptItem::ToolCall {
        call_id: id.to_owned(),
        tool: "write".to_owned(),
        args: json!({}),
    };
    let result = TranscriptItem::ToolResult {
        call_id: "made".to_owned(),
        tool: "write".to_owned(),
        is_error: false,
        failure: None,
        content: Some(vec![ContentItem::Text("written".to_owned())]),
    };
    let message = TranscriptItem::Message {
        text: "meanwhile".to_owned(),
    };
    let items = vec![call("made"), call("lost"), message, result];
    let messages = conversation_of(&transcript("r1", items));
    let results: Vec<_> = messages
        .iter()
        .flat_map(|message| &message.content)
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some((&*result.tool_use_id, result.is_error)),
            _ => None,
        })
        .collect();
    assert_eq!(results, [("made", false), ("lost", true)]);
    let last = messages.last().and_then(|message| message.content.last());
    assert_eq!(last, Some(&ContentBlock::Text("meanwhile".to_owned())));
}

#[tokio::test]
async fn a_session_is_handed_to_a_run_unless_it_is_too_large() {
    let place = handing_out().await;
    let (sessions, stored) = (&place.sessions, &place.stored);
    let name = SessionName::new("notes").unwrap();
    let run = RunId::new("r1").unwrap();
    let mut large = Session::new("notes", at(1));
    large.messages = vec![Message::user("x".repeat(1024 * 1024))];
    sessions.import(large).await.unwrap();
    let failure = stored.take(taker(&name, None, &run)).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InvalidRequest);
    let said = "a run is handed 1048576 at most";
    assert!(failure.message.contains(said), "{failure}");
    let kept = sessions.open("notes").await.unwrap();
    assert_eq!(kept.run, None, "nobody has it");
}

#[tokio::test]
async fn a_run_of_somebody_else_with_the_id_of_the_one_before_is_not_taken_in() {
    let place = handing_out().await;
    let (client, sessions, stored) = (&place.client, &place.sessions, &place.stored);
    let name = SessionName::new("notes").unwrap();
    let [before, after] = ["r1", "r2"].map(|id| RunId::new(id).unwrap());
    stored.take(taker(&name, None, &before)).await.unwrap();
    let request = RunRequest::new("default", Message::user("a secret")).tenant("acme");
    client.start(&before, request).await.unwrap();
    client.cancel(&before, None).await.unwrap();
    let failure = stored.take(taker(&name, None, &after)).await.unwrap_err();
    assert!(failure.message.contains("is lost"), "{failure}");
    assert!(sessions.open("notes").await.unwrap().messages.is_empty());
}
