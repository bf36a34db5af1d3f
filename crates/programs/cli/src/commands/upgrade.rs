//! `neuron upgrade`

use std::time::Duration;

use neuron_engine::{RunClientError, RunHandle};
use neuron_types::{RunEvent, signal};
use serde_json::json;

use crate::{
    CliError, Exit,
    args::UpgradeArgs,
    runs::follow::is_executing,
    runs::served,
    session::Session,
    terminal::output::note,
    terminal::{describe, shown},
    whoami::whoami,
};

/// How long the command waits for the run's next turn, unless `--wait` is given.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn upgrade(session: &Session, args: &UpgradeArgs) -> Result<Exit, CliError> {
    let run = session.run(&args.run).await?;
    let seen = match run.events_after(0).await {
        Ok(events) => Some(events.last().map_or(0, |event| event.seq)),
        // The request is kept for the worker that starts later.
        Err(error) if error.is_transient() => None,
        Err(error) => return Err(error.into()),
    };
    run.upgrade(Some(whoami())).await?;
    let is_executing = is_executing(&run).await?;
    if !is_executing && !session.has_worker().await {
        let to_do = served::to_do(session, &run).await;
        note(&format!("no process executes the run now; {to_do}"));
    }
    let came_of_it = match seen {
        Some(seen) if args.wait => Some(outcome(&run, seen).await?),
        Some(seen) if is_executing => {
            let outcome = tokio::time::timeout(PATIENCE, outcome(&run, seen)).await;
            outcome.ok().transpose()?
        }
        _ => None,
    };
    tell(session, &run, came_of_it, is_executing)
}

/// Returns the result of the request: the first event after number `seen` that reports it, or the run's end.
async fn outcome(run: &RunHandle, mut seen: u64) -> Result<RunEvent, RunClientError> {
    let mut quiet = 0;
    loop {
        match run.events_after(seen).await {
            Ok(events) => {
                quiet = if events.is_empty() { quiet + 1 } else { 0 };
                for recorded in events {
                    seen = recorded.seq;
                    if says_outcome(&recorded.event) {
                        return Ok(recorded.event);
                    }
                }
            }
            Err(error) if error.is_transient() => quiet += 1,
            Err(error) => return Err(error),
        }
        tokio::time::sleep(run.client().poll_interval(quiet)).await;
    }
}

fn says_outcome(event: &RunEvent) -> bool {
    match event {
        RunEvent::Upgraded { .. } | RunEvent::RunEnded { .. } => true,
        RunEvent::SignalIgnored { name, .. } => name == signal::UPGRADE,
        _ => false,
    }
}

fn tell(
    session: &Session,
    run: &RunHandle,
    came_of_it: Option<RunEvent>,
    is_executing: bool,
) -> Result<Exit, CliError> {
    let run_id = run.id();
    let (value, text) = match came_of_it {
        Some(RunEvent::Upgraded {
            from, to, changes, ..
        }) => (
            json!({
                "run_id": run_id, "accepted": true, "executing": is_executing,
                "outcome": if from == to { "unchanged" } else { "upgraded" },
                "from": from, "to": to, "changes": changes,
            }),
            format!("run {run_id}: {}", describe::upgraded(&changes, None)),
        ),
        Some(RunEvent::SignalIgnored { reason, .. }) => (
            json!({
                "run_id": run_id, "accepted": true, "executing": is_executing,
                "outcome": "kept", "reason": reason,
            }),
            format!("run {run_id} was not upgraded: {}", shown::line(&reason)),
        ),
        Some(_) => (
            json!({
                "run_id": run_id, "accepted": true, "executing": is_executing,
                "outcome": "ended",
            }),
            format!("run {run_id} ended before its next turn"),
        ),
        None => (
            json!({
                "run_id": run_id, "accepted": true, "executing": is_executing,
                "outcome": "queued",
            }),
            format!("run {run_id} adopts the current definition of its agent at its next turn"),
        ),
    };
    if session.output.is_json() {
        session.output.value(&value)?;
    } else {
        session.output.text(&text)?;
    }
    Ok(Exit::Done)
}
