//! What was said and done in a run: from the histories, and from a worker where they lack it.

use std::time::Duration;

use neuron_engine::{KnownSteps, RunClientError};
use neuron_types::{RecordedEvent, RunId, Transcript};
use temporalio_client::WorkflowExecutionStatus;

use super::AgentClient;
use crate::conversation::recording::Recording;

/// How long a worker may take to answer about a run that is over.
const CLOSED_PATIENCE: Duration = Duration::from_secs(2);

/// The most histories of a run that are read, the newest first.
const HISTORIES: usize = 50;

/// What is missing if no worker answers.
const NO_WORKER: &str = "no worker of the run answered, so that it has no tickets, and no reasons of calls that were not \
                         made";

impl AgentClient {
    /// Returns the transcript. The events come from a worker if the run needs one; the results of steps are in the
    /// histories.
    pub(super) async fn transcript_of(&self, run_id: &RunId) -> Result<Transcript, RunClientError> {
        let seen = self.describe(run_id).await?;
        if self.untouched(run_id, &seen).await?.is_some() {
            return Ok(KnownSteps::default().into_transcript(run_id.clone(), &[]));
        }
        let told = self.worker_events(run_id, 0, usize::MAX);
        let told = if seen.status() == WorkflowExecutionStatus::Running {
            match told.await {
                // A worker that was killed keeps the run for five seconds, and another may then have to replay it.
                Err(error) if error.is_no_worker() => {
                    Some(self.worker_events(run_id, 0, usize::MAX).await?)
                }
                told => Some(told?),
            }
        } else {
            let told = tokio::time::timeout(CLOSED_PATIENCE, told).await;
            told.ok().and_then(Result::ok)
        };
        let (mut steps, recorded) = self.recorded(run_id, seen.run_id()).await?;
        let events = match told {
            Some(told) => {
                if let Some(incomplete) = told.incomplete {
                    steps.lacks(incomplete);
                }
                told.events
            }
            None => {
                steps.lacks(NO_WORKER);
                recorded
            }
        };
        Ok(steps.into_transcript(run_id.clone(), &events))
    }

    /// Returns what the histories of a run contain, from the newest back to the oldest that still exists.
    async fn recorded(
        &self,
        run_id: &RunId,
        newest: &str,
    ) -> Result<(KnownSteps, Vec<RecordedEvent>), RunClientError> {
        let converter = &self.client.options().data_converter;
        let mut steps = KnownSteps::default();
        let mut older: Vec<Vec<RecordedEvent>> = Vec::new();
        let mut history = Some(newest.to_owned());
        let mut is_unreadable = false;
        while let Some(id) = history.take() {
            if older.len() == HISTORIES {
                steps.lacks(format!("only the newest {HISTORIES} histories were read"));
                break;
            }
            let handle = self.history(run_id, id);
            let events = handle.fetch_history(Default::default()).into_events().await;
            let events = match events.map_err(|error| self.interaction(run_id, error)) {
                // The history existed a moment ago, or the server has deleted it.
                Err(error) if error.is_unknown_run() && !older.is_empty() => {
                    steps.lacks("the server has deleted older histories");
                    break;
                }
                events => events?,
            };
            let recording = Recording::of(events, converter).await;
            is_unreadable |= recording.is_unreadable;
            history = recording.previous;
            steps.extend_older(recording.steps);
            older.push(recording.events);
        }
        if is_unreadable {
            steps.lacks("parts of the history could not be read");
        }
        let events = older.into_iter().rev().flatten().zip(1..);
        let events = events.map(|(event, seq)| RecordedEvent { seq, ..event });
        Ok((steps, events.collect()))
    }
}
