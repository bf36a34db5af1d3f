//! The events of all runs of a tree, in order of time.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use neuron_engine::RunHandle;
use neuron_types::{RecordedEvent, RunId, RunStatus};
use serde::Serialize;

use crate::{
    CliError, Exit,
    runs::{
        follow::{is_executing, is_left},
        served,
        tree::Tree,
    },
    session::Session,
    terminal::{
        describe,
        output::{Output, note},
    },
};

/// An event and the run that it belongs to. Events of children contain a `run_id` themselves.
#[derive(Debug, Serialize)]
struct OfRun<'a> {
    run: &'a RunId,
    #[serde(flatten)]
    event: RecordedEvent,
}

/// What was shown of a run.
#[derive(Debug, Default)]
struct Seen {
    /// The number of the last event.
    last: u64,
    /// The status at the last look for events.
    status: Option<RunStatus>,
}

/// Shows the events of a run and of all runs below it. With `--follow` they are shown as they are found, until all runs
/// are over or left.
///
/// # Errors
///
/// The engine cannot be asked, [`CliError::Stdout`].
pub(crate) async fn show(
    session: &Session,
    run: &RunHandle,
    follow: bool,
) -> Result<Exit, CliError> {
    let mut seen: BTreeMap<RunId, Seen> = BTreeMap::new();
    let mut open = vec![run.id().clone()];
    let (mut quiet, mut left) = (0, 0);
    let mut told = None;
    loop {
        // This is asked first, so that events recorded before the runs are over, or left, are among those read below.
        let executing = follow && is_any_executing(run, &open).await?;
        let tree = Tree::of(run).await?;
        let is_quiet = show_new(session.output, run, &tree, &mut seen).await?;
        if let Some(why) = tree.incomplete.as_ref().filter(|_| told != tree.incomplete) {
            note(why);
            told.clone_from(&tree.incomplete);
        }
        open = tree.open().map(|status| status.run_id.clone()).collect();
        if !follow || open.is_empty() {
            say_lost(&tree);
            return Ok(Exit::Done);
        }
        quiet = if is_quiet { quiet + 1 } else { 0 };
        left = if executing { 0 } else { left + 1 };
        let leaves = tree.open_leaves();
        if are_left(session, &leaves, left).await {
            for status in leaves {
                let waiting = describe::waiting(status.state);
                note(&format!("run {} is {waiting}", status.run_id));
            }
            let tickets = session.typed(&format!("approvals {}", run.id()));
            let to_do = served::to_do(session, run).await;
            note(&format!(
                "no process executes a run of this tree: `{tickets}` lists the questions; {to_do}"
            ));
            return Ok(Exit::Waits);
        }
        tokio::time::sleep(run.client().poll_interval(quiet)).await;
    }
}

/// Returns whether some process executes one of the runs.
async fn is_any_executing(run: &RunHandle, runs: &[RunId]) -> Result<bool, CliError> {
    for run_id in runs {
        let one = RunHandle::new(run.client().clone(), run_id.clone());
        match is_executing(&one).await {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            // The run is gone meanwhile.
            Err(error) if error.is_unknown_run() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Returns whether the tree is left, after this number of looks in a row that found no executor of any of its runs.
async fn are_left(session: &Session, leaves: &[&RunStatus], looks: u32) -> bool {
    for status in leaves {
        if !is_left(session, status, looks).await {
            return false;
        }
    }
    true
}

/// Shows what is new, and returns whether nothing is.
async fn show_new(
    output: Output,
    run: &RunHandle,
    tree: &Tree,
    seen: &mut BTreeMap<RunId, Seen>,
) -> Result<bool, CliError> {
    let mut found = Vec::new();
    for status in tree.known() {
        let shown = seen.entry(status.run_id.clone()).or_default();
        // Every event changes the status, and looking for events costs more.
        if shown.status.as_ref() == Some(status) {
            continue;
        }
        let events = run.client().events_after(&status.run_id, shown.last);
        let events = events.await?;
        shown.last = events.last().map_or(shown.last, |event| event.seq);
        shown.status = Some(status.clone());
        found.extend(in_time(&status.run_id, events));
    }
    // Events of the same moment stay in the order of the runs in the tree.
    found.sort_by_key(|(at, _)| *at);
    let is_quiet = found.is_empty();
    let ids = tree.nodes.iter().map(|node| node.run_id().as_str().len());
    let width = ids.max().unwrap_or_default();
    for (_, event) in found {
        show_one(output, &event, width)?;
    }
    Ok(is_quiet)
}

/// Returns the events of a run with the times by which they are ordered: whatever a clock did, no event is before an
/// earlier one.
fn in_time(
    run: &RunId,
    events: Vec<RecordedEvent>,
) -> impl Iterator<Item = (DateTime<Utc>, OfRun<'_>)> {
    let mut latest = DateTime::<Utc>::MIN_UTC;
    events.into_iter().map(move |event| {
        latest = latest.max(event.at);
        (latest, OfRun { run, event })
    })
}

fn show_one(output: Output, of_run: &OfRun<'_>, width: usize) -> Result<(), CliError> {
    if output.is_json() {
        return output.value(of_run);
    }
    let run = of_run.run.as_str();
    output.text(&format!(
        "{run:<width$}  {}",
        describe::recorded(&of_run.event)
    ))
}

/// Prints which runs have no events.
fn say_lost(tree: &Tree) {
    for why in tree.lost() {
        note(&why);
    }
}
