//! An attempt that follows one that failed.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{Blocked, BlockedKind, RunId, StepFailure, StepId};

/// Another attempt at a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Again {
    /// When it starts.
    pub due: DateTime<Utc>,
    /// When the first attempt failed.
    pub since: DateTime<Utc>,
    /// What failed before it.
    pub notice: RetryNotice,
}

impl Again {
    /// Returns what holds the run up until it starts.
    #[must_use]
    pub fn blocked(&self) -> Blocked {
        Blocked {
            attempt: Some(self.notice.attempt),
            next_at: Some(self.due),
            ..Blocked::new(
                BlockedKind::StepFailing,
                self.since,
                self.notice.failure.to_string(),
            )
        }
    }
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
    /// Why it failed, and what the attempts used and cost by then.
    pub failure: StepFailure,
    /// How long it takes until the next attempt starts.
    pub delay: Duration,
}

impl RetryNotice {
    /// Says that this attempt at a step failed and that another starts after the delay.
    #[must_use]
    pub fn new(
        run_id: RunId,
        step: StepId,
        attempt: u32,
        failure: StepFailure,
        delay: Duration,
    ) -> Self {
        Self {
            run_id,
            step,
            attempt,
            failure,
            delay,
        }
    }
}
