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

/// What executes the runs below one.
pub(crate) struct Below(LocalWorker);

impl Below {
    /// The worker for the runs below that of this door, which is put away only while nothing goes on there. The ear hears
    /// what happens in them; where there is none, what they ask is said.
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

    /// Lets a run go on, and executes the runs below it meanwhile.
    ///
    /// # Errors
    ///
    /// What keeps the journal from being read: the run is interrupted then.
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
                // Nobody would end the runs that it waits for.
                interrupt.interrupt();
                let output = run.await;
                served?;
                Ok(output)
            }
        }
    }
}

/// Says what a person has to know.
fn say(event: &WorkerEvent) {
    match event {
        WorkerEvent::Parked { run_id, state, .. } if *state == RunPhase::WaitingForApproval => {
            note(&format!(
                "run {run_id} asks: `neuron approvals {run_id}` says what, and what to type"
            ));
        }
        other => say_left(other),
    }
}

/// Says which runs do not go on.
fn say_left(event: &WorkerEvent) {
    if let WorkerEvent::Left { run_id, reason } | WorkerEvent::Stuck { run_id, reason } = event {
        note(&format!(
            "run {run_id} does not go on here: {}",
            shown::line(reason)
        ));
    }
}
