//! `neuron worker`

use neuron_local::{LocalWorker, WorkerCounts, WorkerEvent};
use neuron_types::RunId;
use neuron_worker::{Life, listen, serve_health};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::{
    CliError, Exit,
    args::{EngineName, WorkerArgs},
    runs::signals::Signals,
    runs::stored,
    runs::worker_source::WorkerSource,
    session::Session,
    terminal::{describe, output::note, shown},
};

pub(crate) async fn worker(session: &Session, args: WorkerArgs) -> Result<Exit, CliError> {
    let engine = session.global.engine;
    if engine != EngineName::Local {
        return Err(CliError::WorkerElsewhere { engine });
    }
    let file = session.agent_file().await?;
    let signals = Signals::listen()?;
    let journal = session.journal().await?;
    let counts = WorkerCounts::default();
    let life = Life::default();
    if let Some(address) = args.http {
        let (listener, address) = listen(address).await?;
        tokio::spawn(serve_health(listener, life.clone(), counts.clone()));
        note(&format!("health at http://{address}/healthz"));
    }
    let names: Vec<_> = file
        .definitions()
        .map(|agent| shown::line(&agent.name).into_owned())
        .collect();
    if file.definitions().any(|agent| file.is_demo(agent)) {
        note(
            "the demo model answers, which is a small program and not a language model: set \
             OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one",
        );
    }
    let source = WorkerSource::new(file, session.open_options()?, session.directory()?);
    let output = session.output;
    let (ended, endings) = unbounded_channel();
    let taking_in = tokio::spawn(take_in_each(session.clone(), endings));
    let last = ended.clone();
    let report = move |event: &WorkerEvent| {
        counts.count(event);
        if let WorkerEvent::Ended { output } = event {
            // The task that takes the runs in ends after the worker.
            ended.send(Some(output.run_id.clone())).ok();
        }
        let written = match output.is_json() {
            true => output.value(&value(event)),
            false => output.text(&line(event)),
        };
        // Runs continue even if no one reads about them.
        written.ok();
    };
    let mut worker = LocalWorker::builder(journal.clone(), source.clone(), |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    })
    .max_runs(args.max_runs.into())
    .reporter(report);
    if let Some(grace) = args.grace {
        worker = worker.grace(grace);
    }
    if let Some(operations) = args.segment.segment_events {
        worker = worker.continue_as_new_after(operations);
    }
    if let Some(bytes) = args.segment.segment_bytes {
        worker = worker.continue_as_new_after_bytes(bytes);
    }
    let home = journal.home().to_string_lossy();
    note(&format!(
        "serving {} for the runs in {}",
        names.join(", "),
        shown::line(&home)
    ));
    let first = signals.first().clone();
    let stop = life.note(async move {
        first.cancelled().await;
        note("stopping: calls in flight may still end; a second signal stops at once");
    });
    let served = life.of(worker.build().serve(stop)).await;
    source.stop().await;
    last.send(None).ok();
    taking_in.await.ok();
    served?;
    Ok(Exit::Done)
}

/// Lets the sessions of ended runs take them in, until no more runs end.
async fn take_in_each(session: Session, mut endings: UnboundedReceiver<Option<RunId>>) {
    while let Some(Some(run_id)) = endings.recv().await {
        stored::take_in_or_say(&session, &run_id).await;
    }
}

/// Returns the event, as a line for people.
fn line(event: &WorkerEvent) -> String {
    match event {
        WorkerEvent::Started { run_id, agent } => {
            format!("run {run_id} continues here: agent {}", shown::line(agent))
        }
        WorkerEvent::Parked {
            run_id,
            state,
            wakes_at,
        } => {
            let until = wakes_at.map(|at| format!(", until {} at the latest", describe::time(at)));
            format!("run {run_id} waits: {state}{}", until.unwrap_or_default())
        }
        WorkerEvent::Ended { output } => format!("run {} is {}", output.run_id, output.state),
        WorkerEvent::Left { run_id, reason } => {
            format!(
                "run {run_id} is left to other workers: {}",
                shown::line(reason)
            )
        }
        WorkerEvent::Stuck { run_id, reason } => {
            format!("run {run_id} cannot continue here: {}", shown::line(reason))
        }
        WorkerEvent::PutAway { run_id } => format!("run {run_id} stays as it is: the worker stops"),
        _ => "an event that this version of neuron does not know".to_owned(),
    }
}

/// Returns the event, for programs.
fn value(event: &WorkerEvent) -> Value {
    match event {
        WorkerEvent::Started { run_id, agent } => {
            json!({ "event": "started", "run_id": run_id, "agent": agent })
        }
        WorkerEvent::Parked {
            run_id,
            state,
            wakes_at,
        } => {
            json!({ "event": "parked", "run_id": run_id, "state": state, "wakes_at": wakes_at })
        }
        WorkerEvent::Ended { output } => json!({
            "event": "ended",
            "run_id": output.run_id,
            "state": output.state,
            "exit_reason": output.exit_reason,
        }),
        WorkerEvent::Left { run_id, reason } => {
            json!({ "event": "left", "run_id": run_id, "reason": reason })
        }
        WorkerEvent::Stuck { run_id, reason } => {
            json!({ "event": "stuck", "run_id": run_id, "reason": reason })
        }
        WorkerEvent::PutAway { run_id } => json!({ "event": "put_away", "run_id": run_id }),
        _ => json!({ "event": "unknown" }),
    }
}
