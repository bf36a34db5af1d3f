//! The runs below one that this process executes: those that it starts, and that those start.

use std::{future::Future, time::Duration};

use neuron_local::{Interrupt, Journal, JournalError, LocalWorker, WorkerEvent};
use neuron_types::{RunId, RunPhase, RunStatus};
use tokio::{sync::oneshot, time::sleep};

use crate::{
    CliError,
    args::SegmentArgs,
    runs::worker_source::WorkerSource,
    terminal::{output::note, shown},
};

/// How often it is looked whether nothing goes on but what people decide about.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// Lets a run go on, and executes the runs below it meanwhile. What they ask is said. `parks` puts the run away once
/// nobody but people is waited for, in the whole tree.
///
/// # Errors
///
/// What keeps the journal from being read.
pub(crate) async fn beside<T>(
    journal: &Journal,
    run_id: &RunId,
    source: &WorkerSource,
    segment: &SegmentArgs,
    parks: Option<&Interrupt>,
    run: impl Future<Output = T>,
) -> Result<T, CliError> {
    let mut worker = LocalWorker::builder(journal.clone(), source.clone(), |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    })
    .reporter(say);
    if let Some(operations) = segment.segment_events {
        worker = worker.continue_as_new_after(operations);
    }
    if let Some(bytes) = segment.segment_bytes {
        worker = worker.continue_as_new_after_bytes(bytes);
    }
    let (ended, ends) = oneshot::channel::<()>();
    let run = async {
        let output = run.await;
        drop(ended);
        output
    };
    let below = worker.below(run_id).build().serve(async {
        ends.await.ok();
    });
    let both = async { tokio::join!(run, below) };
    let parking = async {
        match parks {
            Some(interrupt) => park(journal, run_id, interrupt).await,
            None => std::future::pending().await,
        }
    };
    let mut both = std::pin::pin!(both);
    let (output, served) = tokio::select! {
        biased;
        ended = &mut both => ended,
        parked = parking => {
            parked?;
            both.await
        }
    };
    served?;
    Ok(output)
}

/// Puts the run away when nobody but people is waited for.
async fn park(
    journal: &Journal,
    run_id: &RunId,
    interrupt: &Interrupt,
) -> Result<(), JournalError> {
    loop {
        sleep(BETWEEN_LOOKS).await;
        let status = journal.status(run_id).await?;
        if waits_for_people(journal, &status).await? {
            // What is in flight comes to its end.
            interrupt.interrupt_between_steps();
            return Ok(());
        }
    }
}

/// Whether a run waits for a person, or for others that all do.
async fn waits_for_people(journal: &Journal, status: &RunStatus) -> Result<bool, JournalError> {
    if status.state.waits_for_person() {
        return Ok(true);
    }
    let mut open = status
        .children
        .iter()
        .filter(|child| !child.state.is_final())
        .peekable();
    if status.state.is_final() || open.peek().is_none() {
        return Ok(false);
    }
    for child in open {
        let below = match journal.status(&child.run_id).await {
            Ok(below) => below,
            // It is about to be made.
            Err(JournalError::UnknownRun { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        if !Box::pin(waits_for_people(journal, &below)).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says what a person has to know.
fn say(event: &WorkerEvent) {
    match event {
        WorkerEvent::Parked { run_id, state, .. } if *state == RunPhase::WaitingForApproval => {
            note(&format!(
                "run {run_id} asks: see `neuron status {run_id}`, and decide with `neuron approve {run_id} TICKET`, \
                 `neuron deny` or `neuron answer`"
            ));
        }
        WorkerEvent::Left { run_id, reason } | WorkerEvent::Stuck { run_id, reason } => {
            note(&format!(
                "run {run_id} does not go on here: {}",
                shown::line(reason)
            ));
        }
        _ => {}
    }
}
