//! One worker for every engine: here on a journal. The programs among the examples try the others.

use std::{path::Path, pin::pin, time::Duration};

use futures::{StreamExt, future::poll_immediate};
use neuron::{
    engine::{PageRequest, RunClient as _, RunFilter},
    prelude::*,
    types::{Message, RunId, RunPhase},
    workflow::{Door, DurableContext, Served as _, WorkflowError},
};
use neuron_config::{DemoModel, ScriptModel};
use neuron_local::LocalClient;
use neuron_patience::patience;

/// Has a text written twice.
#[neuron::workflow(name = "twice")]
async fn twice<D: DurableContext>(door: &Door<D>, topic: String) -> Result<usize, WorkflowError> {
    let mut writer = door.scoped("writer")?;
    let first = writer.ask(topic).await?;
    let second = writer.ask(first.clone()).await?;
    Ok(first.len() + second.len())
}

/// Panics.
#[neuron::workflow(name = "broken")]
async fn broken<D: DurableContext>(door: &Door<D>) -> Result<(), WorkflowError> {
    assert!(door.scoped("writer").is_err(), "this workflow panics");
    Ok(())
}

fn scripted(name: &str, script: &str) -> Agent {
    let model = Model::of(ScriptModel::parse(script).unwrap(), "script");
    Agent::builder(name).model(model).build().unwrap()
}

fn greeter() -> Agent {
    scripted("greeter", r#"{"turns": [{"text": "hello"}]}"#)
}

#[tokio::test]
async fn a_worker_on_a_journal_serves_agents_and_workflows_by_their_names() {
    let home = tempfile::tempdir().unwrap();
    let greeter = greeter();
    let writer = scripted("writer", r#"{"turns": [{"text": "abc"}, {"text": "de"}]}"#);
    let twice = Twice::with(&[&writer]).unwrap();
    let worker = Worker::on(EngineKind::Local)
        .home(home.path())
        .agents(&[&greeter, &twice])
        .spawn()
        .await
        .unwrap();
    assert_eq!(worker.engine(), EngineKind::Local);

    let run = greeter.on(&worker).start("g1", "hi").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "hello");
    let run = twice
        .on(&worker)
        .start("t1", &"tea".to_owned())
        .await
        .unwrap();
    assert_eq!(run.result().await.unwrap(), 5);

    let runs = worker.runs();
    let request = RunRequest::new("greeter", Message::user("hi")).tenant("acme");
    let run = runs.start("g2", request.clone()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), "hello");
    let other = request.tenant("other");
    let failure = runs.start("g2", other).await.unwrap_err();
    assert!(matches!(failure, RunFailure::OtherRun { .. }), "{failure}");
    let status = runs.run("g2").unwrap().status().await.unwrap();
    assert_eq!(status.state, RunPhase::Completed);
    assert!(runs.run("no id").is_err());

    // A program without a worker finds the same runs.
    let runs = Runs::on(EngineKind::Local).home(home.path());
    let runs = runs.connect().await.unwrap();
    let twice = runs.workflow::<Twice>();
    let run = twice.start("t2", &"tea".to_owned()).await.unwrap();
    assert_eq!(run.result().await.unwrap(), 5);
    let of_twice = RunFilter::all().agent("twice");
    let page = runs.list(&of_twice, PageRequest::default()).await.unwrap();
    let ids: Vec<&str> = page.runs.iter().map(|run| run.run_id.as_str()).collect();
    assert_eq!(ids, ["t2", "t1"]);
    let page = runs.tickets(PageRequest::default()).await.unwrap();
    assert!(page.tickets.is_empty() && page.next.is_none());
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn a_worker_takes_up_the_runs_that_were_started_before_it() {
    let home = tempfile::tempdir().unwrap();
    let greeter = greeter();
    let worker = async || {
        let worker = Worker::on(EngineKind::Local).home(home.path());
        worker.agent(&greeter).spawn().await.unwrap()
    };
    let first = worker().await;
    let runs = first.runs();
    first.stop().await.unwrap();
    let request = RunRequest::new("greeter", Message::user("hi"));
    let run = runs.start("g1", request).await.unwrap();
    let second = worker().await;
    assert_eq!(run.result().await.unwrap(), "hello");
    second.stop().await.unwrap();
}

#[tokio::test]
async fn a_run_of_another_directory_is_left_to_a_worker_there() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let greeter = greeter();
    let submit = async |run: &str, directory: &Path| {
        let client = LocalClient::new(home.path()).with_directory(directory);
        let run = RunId::new(run).unwrap();
        let request = RunRequest::new("greeter", Message::user("hi"));
        client.start(&run, request).await.unwrap();
    };
    submit("g1", elsewhere.path()).await;
    submit("g2", &std::env::current_dir().unwrap()).await;
    // With one run at a time, the first is looked at before the second ends.
    let worker = Worker::on(EngineKind::Local).home(home.path()).max_runs(1);
    let worker = worker.agent(&greeter).spawn().await.unwrap();
    let runs = worker.runs();
    let here = runs.run("g2").unwrap();
    let output = here.wait().await.unwrap().output;
    assert_eq!(output.as_deref(), Some("hello"));
    let status = runs.run("g1").unwrap().status().await.unwrap();
    assert_eq!((status.state, status.turn), (RunPhase::Interrupted, 0));
    worker.stop().await.unwrap();

    let local = Local::open(home.path()).await.unwrap();
    assert!(local.recover(&[&greeter]).await.unwrap().is_empty());
    let there = Agent::builder("greeter").dir(elsewhere.path());
    let model = ScriptModel::parse(r#"{"turns": [{"text": "hello"}]}"#).unwrap();
    let there = there.model(Model::of(model, "script")).build().unwrap();
    let recovered = local.recover(&[&there]).await.unwrap();
    assert_eq!(recovered.len(), 1);
    let output = runs.run("g1").unwrap().wait().await.unwrap().output;
    assert_eq!(output.as_deref(), Some("hello"));
}

#[tokio::test]
async fn a_workflow_that_panics_does_not_end_the_worker() {
    let home = tempfile::tempdir().unwrap();
    let (greeter, writer) = (greeter(), scripted("writer", r#"{"turns": []}"#));
    let broken = Broken::with(&[&writer]).unwrap();
    let worker = Worker::on(EngineKind::Local).home(home.path());
    let worker = worker.agent(&broken).agent(&greeter);
    let worker = worker.spawn().await.unwrap();
    broken.on(&worker).start("b1", &()).await.unwrap();
    let run = greeter.on(&worker).start("g1", "hi").await.unwrap();
    assert_eq!(run.result().await.unwrap(), "hello");
    worker.stop().await.unwrap();
}

#[tokio::test]
async fn a_worker_stops_after_a_wait_that_was_given_up() {
    let home = tempfile::tempdir().unwrap();
    let agent = Agent::builder("demo").model(Model::of(DemoModel, "demo"));
    let agent = agent.build().unwrap();
    let mut worker = Worker::on(EngineKind::Local)
        .home(home.path())
        .agent(&agent)
        .grace(Duration::from_secs(1)) // Nothing is in flight.
        .spawn()
        .await
        .unwrap();
    // It serves until it is stopped, and a wait that is given up changes nothing.
    assert!(poll_immediate(pin!(worker.wait())).await.is_none());
    let stopped = tokio::time::timeout(patience(), worker.stop()).await;
    stopped.unwrap().unwrap();
}

#[tokio::test]
async fn a_run_is_a_stream_and_loses_nothing_if_a_reader_gives_up() {
    let home = tempfile::tempdir().unwrap();
    let greeter = greeter();
    let places: [&dyn Fn(&Local) -> Local; 2] = [&|_| Local::memory(), &Local::clone];
    let local = Local::open(home.path()).await.unwrap();
    for (index, place) in places.into_iter().enumerate() {
        let place = place(&local);
        let mut run = greeter
            .on(&place)
            .start(&format!("s{index}"), "hi")
            .await
            .unwrap();
        let mut events = Vec::new();
        loop {
            // Reads that are given up at once, one before each that is not.
            let given_up = poll_immediate(pin!(run.next())).await;
            let item = match given_up {
                Some(item) => item,
                None => StreamExt::next(&mut run).await,
            };
            let Some(item) = item else { break };
            if let RunItem::Event(event) = item.unwrap() {
                events.push(event.seq);
            }
        }
        let all: Vec<u64> = (1..=u64::try_from(events.len()).unwrap()).collect();
        assert_eq!(events, all);
        assert_eq!(run.finished().unwrap().into_text().unwrap(), "hello");
        // After the end there is nothing more.
        assert!(run.next().await.is_none());
    }
}
