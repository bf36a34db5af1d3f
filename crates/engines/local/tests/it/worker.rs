//! Workers.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use neuron_engine::RunClient as _;
use neuron_executor::{Agents, Executors};
use neuron_local::{
    Journal, JournalError, JournalOptions, JournaledContext, LocalClient, LocalWorker,
    LocalWorkerBuilder, WorkerEvent,
};
use neuron_patience::patience;
use neuron_types::{AgentSpec, DurableContext as _, Message, RunId, RunPhase, RunRequest};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    journal::{World, plain_output, run_id},
    room::{Act, Room, call, eventually, model_options, options, request},
};

fn asked() -> RunRequest {
    RunRequest::new("default", Message::user("go"))
}

fn worker(journal: Journal, room: &Room) -> LocalWorkerBuilder {
    let agents: Agents = [AgentSpec::default()].into_iter().collect();
    let executors = Executors::from(room.executor());
    LocalWorker::builder(journal, (executors, agents), |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    })
}

const BETWEEN_LOOKS: Duration = Duration::from_millis(10); // Between two looks.

/// Shorter than the database is locked: what is to be written has to be retried.
const SHORT_LOCK: Duration = Duration::from_millis(20); // It is locked until a try has failed.

const DAY: Duration = Duration::from_secs(86_400); // Only compared, never waited for.

/// Waits for something that must become true.
async fn until<F: Future<Output = bool>>(what: &str, is_true: impl Fn() -> F) {
    let deadline = Instant::now() + patience();
    while !is_true().await {
        assert!(Instant::now() < deadline, "did not happen in time: {what}");
        tokio::time::sleep(BETWEEN_LOOKS).await; // Between two looks.
    }
}

async fn is_over(client: &LocalClient, run: &RunId) -> bool {
    client.output(run).await.unwrap().is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_execute_each_run_once() {
    let home = TempDir::new().unwrap();
    let room = Room::default();
    let client = LocalClient::new(home.path());
    let runs: Vec<RunId> = (0..20).map(|run| run_id(&format!("r{run}"))).collect();
    for run in &runs {
        client.start(run, asked()).await.unwrap();
    }
    let stop = CancellationToken::new();
    let mut workers = JoinSet::new();
    for _ in 0..2 {
        let journal = Journal::open(home.path()).await.unwrap();
        let worker = worker(journal, &room).max_runs(3).build();
        workers.spawn(worker.serve(stop.clone().cancelled_owned()));
    }
    for run in &runs {
        until("the end of a run", || is_over(&client, run)).await;
    }
    stop.cancel();
    while let Some(served) = workers.join_next().await {
        served.unwrap().unwrap();
    }
    assert_eq!(room.calls(), vec!["model 1"; 20]);
}

#[tokio::test(flavor = "multi_thread")]
async fn goes_on_with_a_run_whose_executor_is_gone_and_says_what_it_does() {
    let world = World::acting([Act::Hang]).await;
    let journal = world.journal().await;
    {
        let door = world.door().await;
        let call = neuron_workflows::agent(&door, door.run_start().await.unwrap());
        tokio::select! {
            _ = call => panic!("the model hangs"),
            () = eventually(|| !world.room.calls().is_empty()) => {}
        }
    }
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let client = LocalClient::from(journal.clone());
    let worker = worker(journal.clone(), &world.room)
        .reporter(move |event| heard.lock().unwrap().push(event.clone()))
        .build();
    assert!(!journal.has_worker().unwrap());
    let stop = async {
        until("the end of the run", || is_over(&client, &world.run_id)).await;
        assert!(journal.has_worker().unwrap());
        let is_told = || async { told.lock().unwrap().len() == 2 };
        until("both reports", is_told).await;
    };
    worker.serve(stop).await.unwrap();
    assert!(!journal.has_worker().unwrap());
    let told = told.lock().unwrap();
    let [
        WorkerEvent::Started { run_id, agent },
        WorkerEvent::Ended { output },
    ] = told.as_slice()
    else {
        panic!("{told:?}");
    };
    assert_eq!((run_id, agent.as_str()), (&world.run_id, "default"));
    assert_eq!(output.state, RunPhase::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_an_agent_that_it_has_not_is_left_and_that_is_said_once() {
    let home = TempDir::new().unwrap();
    let room = Room::default();
    let journal = Journal::open(home.path()).await.unwrap();
    let client = LocalClient::from(journal.clone());
    let stranger = run_id("stranger");
    let request = RunRequest::new("nobody", Message::user("go"));
    client.start(&stranger, request).await.unwrap();
    client.start(&run_id("own"), asked()).await.unwrap();
    let left = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&left);
    let executors = Executors::by_agent([("default".to_owned(), room.executor())]);
    let agents: Agents = [AgentSpec::default()].into_iter().collect();
    let worker = LocalWorker::builder(journal, (executors, agents), |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    })
    .reporter(move |event| {
        if let WorkerEvent::Left { run_id, reason } = event {
            heard.lock().unwrap().push((run_id.clone(), reason.clone()));
        }
    });
    let stop = async {
        let own = run_id("own");
        until("the end of the run", || is_over(&client, &own)).await;
        let is_left = || async { !left.lock().unwrap().is_empty() };
        until("that it is left", is_left).await;
    };
    worker.build().serve(stop).await.unwrap();
    let left = left.lock().unwrap().clone();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].0, stranger);
    assert!(left[0].1.contains("serves no agent"), "{left:?}");
    assert!(!is_over(&client, &stranger).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_worker_lets_a_call_end_and_starts_no_other() {
    let world = World::new().await;
    let door = world.door().await;
    let answered = door.execute_llm_call(&request(1), &model_options(1)).await;
    answered.unwrap();
    door.interrupt_handle().interrupt_between_steps();
    let next = door.execute_llm_call(&request(2), &model_options(2)).await;
    let error = next.unwrap_err().to_string();
    assert_eq!(world.room.calls(), ["model 1"], "{error}");
    drop(door);
    let door = world.door().await;
    for turn in 1..=2 {
        let messages = usize::try_from(turn).unwrap();
        let options = model_options(turn);
        let answered = door.execute_llm_call(&request(messages), &options).await;
        answered.unwrap();
    }
    assert_eq!(world.room.calls(), ["model 1", "model 2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_claimed_is_nobody_elses() {
    let home = TempDir::new().unwrap();
    let room = Room::default();
    let journal = Journal::open(home.path()).await.unwrap();
    let run = run_id("r");
    let claim = journal.claim_run(home.path(), &run, asked(), "local").await;
    let claim = claim.unwrap();
    assert!(journal.is_executing(&run).unwrap());
    let other = JournaledContext::open(&journal, &run, room.executor()).await;
    assert!(matches!(other, Err(JournalError::Executing { .. })));
    let again = journal.claim_run(home.path(), &run, asked(), "local").await;
    assert!(matches!(again, Err(JournalError::RunExists { .. })));
    let door = JournaledContext::open_claimed(claim, room.executor()).await;
    door.unwrap().finish(&plain_output(&run)).await.unwrap();
    assert!(!journal.is_executing(&run).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_journaled_however_long_the_database_is_locked() {
    let world = World::acting([Act::Held]).await;
    let options_of_journal = JournalOptions::default().lock_timeout(SHORT_LOCK);
    let journal = Journal::open_with(world.home.path(), options_of_journal);
    let journal = journal.await.unwrap();
    let door = world.door_to(&journal).await;
    // Begun before the database is locked, because its start is journaled.
    let other = world.database();
    let write = call("write");
    let options = options("write", 1, 1);
    let locked = async {
        let is_made = || async { !world.room.calls().is_empty() };
        until("the call", is_made).await;
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        world.room.go_on();
        let waits = || async { !world.room.sink.stalls.lock().unwrap().is_empty() };
        until("a try to write the result", waits).await;
        other.execute_batch("COMMIT").unwrap();
    };
    let (result, ()) = tokio::join!(door.execute_tool(&write, &options), locked);
    result.unwrap();
    drop(door);
    let door = world.door().await;
    door.execute_tool(&write, &options).await.unwrap();
    assert_eq!(world.room.calls().len(), 1);
}

#[tokio::test]
async fn what_is_removed_leaves_nothing_and_makes_the_file_smaller() {
    let home = TempDir::new().unwrap();
    let room = Room::default();
    let journal = Journal::open(home.path()).await.unwrap();
    let (big, open) = (run_id("big"), run_id("open"));
    let text = "x".repeat(2_000_000);
    let request = RunRequest::new("default", Message::user(text));
    journal.create_run(&big, request, "local").await.unwrap();
    journal.create_run(&open, asked(), "local").await.unwrap();
    let door = JournaledContext::open(&journal, &big, room.executor()).await;
    door.unwrap().finish(&plain_output(&big)).await.unwrap();
    let refused = journal.remove_runs(&[big.clone(), open.clone()]).await;
    assert!(matches!(refused, Err(JournalError::NotOver { run_id }) if run_id == open));
    assert!(journal.output(&big).await.unwrap().is_some(), "all or none");
    let over = journal.runs_over_since(Duration::ZERO).await.unwrap();
    assert_eq!(over, std::slice::from_ref(&big));
    assert!(journal.runs_over_since(DAY).await.unwrap().is_empty());
    journal
        .remove_runs(std::slice::from_ref(&big))
        .await
        .unwrap();
    let gone = journal.status(&big).await;
    assert!(matches!(gone, Err(JournalError::UnknownRun { .. })));
    journal.status(&open).await.unwrap();
    let size = home.path().join("neuron.db").metadata().unwrap().len();
    assert!(size < 1_000_000, "{size}");
}
