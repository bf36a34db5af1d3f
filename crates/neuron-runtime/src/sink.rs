//! Where a run is watched live.

use std::time::Duration;

use neuron_types::{RecordedEvent, RunId, StepFailure, StepId};

use crate::TokenDelta;

/// Is told what happens in a run as it happens, in the process that executes it.
///
/// This is no log: what a sink missed it does not get again, and what it is told may not be journaled yet.
/// Each event comes once per process, and a replay tells none. The calls come from the run's own task, so
/// they must not block.
pub trait EventSink: Send + Sync {
    /// Something happened in the run.
    fn event(&self, event: &RecordedEvent);

    /// An attempt failed and another follows.
    fn retry(&self, notice: &RetryNotice);

    /// Whether the sink is told answers while they come. It is asked once, when the sink is set. Default is
    /// no: then models are asked for their answers in one piece.
    fn wants_tokens(&self) -> bool {
        false
    }

    /// More of an answer came. [`TokenDelta`] says in which order, and what a retry does. Default is to do
    /// nothing.
    fn token(&self, _delta: &TokenDelta) {}
}

/// An attempt that failed and is followed by another.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RetryNotice {
    /// The run.
    pub run_id: RunId,
    /// The step.
    pub step: StepId,
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    /// Why it failed.
    pub failure: StepFailure,
    /// How long it takes until the next attempt starts.
    pub delay: Duration,
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl EventSink for NoSink {
    fn event(&self, _event: &RecordedEvent) {}

    fn retry(&self, _notice: &RetryNotice) {}
}
