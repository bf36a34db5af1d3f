//! Where a run is watched live.

use neuron_flow::RetryNotice;
use neuron_types::RecordedEvent;

use crate::{TokenDelta, ToolProgress};

/// Receives what happens in a run as it happens, in the process that executes the run.
///
/// This is no log: a sink does not get again what it missed, and what it receives may not be journaled yet. The calls
/// come from the run's own task, so they must not block.
///
/// # Order
///
/// The events of a run come in the order of their numbers, [`RecordedEvent::seq`], and each comes once: a replay of
/// steps that the engine has taken emits nothing. What came after the newest of these steps may be done again: the
/// engine did not take it, as something else happened in the run at the same time, or a worker or its connection was
/// lost; or a worker looked ahead to answer a query. Then events come again from one number on, and may be others than
/// before, or have another time: an event supersedes the one that was emitted under its number, and all that were
/// emitted under higher ones. Local runs do nothing again in one process.
///
/// A run whose engine moves it to another process continues there, with the sink of that process.
pub trait EventSink: Send + Sync {
    /// Receives an event of the run.
    fn event(&self, event: &RecordedEvent);

    /// Receives the notice that an attempt failed and another follows.
    fn retry(&self, notice: &RetryNotice);

    /// Returns whether the sink wants answers while they come. Default is no. Must always return the same.
    fn wants_tokens(&self) -> bool {
        false
    }

    /// Receives more of an answer. [`TokenDelta`] says in which order, and what a retry does. Default is to do nothing.
    fn token(&self, _delta: &TokenDelta) {}

    /// Receives how far a tool call is, as the tool reports it. Default is to do nothing.
    ///
    /// It comes from wherever the tool runs, beside the other calls, as often as the tool reports.
    fn progress(&self, _progress: &ToolProgress) {}

    /// Receives the reason why the run is stalled, which a person may have to do something about: a local run whose
    /// journal cannot be written. Called when the stall begins, and every half a minute. Default is to do nothing.
    fn stalled(&self, _why: &str) {}
}

/// A sink that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl EventSink for NoSink {
    fn event(&self, _event: &RecordedEvent) {}

    fn retry(&self, _notice: &RetryNotice) {}
}
