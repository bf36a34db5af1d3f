//! The runs below one that this process executes: those that it starts, and that those start.

use std::future::Future;

use neuron_local::{Interrupt, JournaledContext, LocalWorker, LocalWorkerBuilder, WorkerEvent};
use neuron_types::RunPhase;
use tokio::sync::oneshot;

use crate::{
    CliError,
    args::SegmentArgs,
    questions::below::Ear,
    terminal::{output::note, shown},
};

/// Executes the runs below one.
pub(crate) struct Below(LocalWorker);

impl Below {
    /// Returns the worker for the runs below the run of this door. The run is only parked while nothing is in flight
    /// there. The ear receives what happens in the runs below; without an ear, their questions are printed.
    pub(crate) fn of(
        door: JournaledContext,
        worker: LocalWorkerBuilder,
        segment: &SegmentArgs,
        ear: Option<Ear>,
    ) -> (JournaledContext, Self) {
        let mut worker = match ear {
            // The person is asked.
            Some(ear) => worker
                .reporter(say_left)
                .sinks(move |run_id| ear.sink(run_id)),
            None => worker.reporter(say),
        };
        if let Some(operations) = segment.segment_events {
            worker = worker.continue_as_new_after(operations);
        }
        if let Some(bytes) = segment.segment_bytes {
            worker = worker.continue_as_new_after_bytes(bytes);
        }
        let door = door.with_runs_below(worker.idle_looks());
        (door, Self(worker.build()))
    }

    /// Executes a run, and the runs below it at the same time.
    ///
    /// # Errors
    ///
    /// The journal cannot be read: the run is interrupted then.
    pub(crate) async fn beside<T>(
        self,
        interrupt: &Interrupt,
        run: impl Future<Output = T>,
    ) -> Result<T, CliError> {
        let (ended, ends) = oneshot::channel::<()>();
        let below = self.0.serve(async {
            ends.await.ok();
        });
        let (mut run, mut below) = (std::pin::pin!(run), std::pin::pin!(below));
        tokio::select! {
            biased;
            output = &mut run => {
                drop(ended);
                below.await?;
                Ok(output)
            }
            served = &mut below => {
                // The run would wait for runs that are never executed.
                interrupt.interrupt();
                let output = run.await;
                served?;
                Ok(output)
            }
        }
    }
}

/// Prints what a person has to know.
fn say(event: &WorkerEvent) {
    match event {
        WorkerEvent::Parked { run_id, state, .. } if *state == RunPhase::WaitingForApproval => {
            note(&format!(
                "run {run_id} asks a person: `neuron approvals {run_id}` shows the question and what to type"
            ));
        }
        other => say_left(other),
    }
}

/// Prints which runs do not continue.
fn say_left(event: &WorkerEvent) {
    if let WorkerEvent::Left { run_id, reason } | WorkerEvent::Stuck { run_id, reason } = event {
        note(&format!(
            "run {run_id} does not continue here: {}",
            shown::line(reason)
        ));
    }
}
