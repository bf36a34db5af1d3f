//! What the executor is told about the attempt that it makes.

use std::time::Duration;

use neuron_types::{ActivityOptions, RunId, StepId, ToolEffects};
use tokio_util::sync::CancellationToken;

use crate::LatestProgress;

/// One attempt of one step: whose it is, how long it may take and what ends it early.
#[derive(Debug, Clone)]
pub struct StepScope {
    /// The run.
    pub run_id: RunId,
    /// The step.
    pub step: StepId,
    /// Whose step it is in a run that several agents take turns in; the run's own where `None`.
    pub agent: Option<String>,
    /// The attempt, counted from 1.
    pub attempt: u32,
    /// How long this attempt may take.
    pub timeout: Duration,
    /// What may be done if the attempt is lost: it decides what a timeout means.
    pub effects: ToolEffects,
    /// Ends the attempt with a cancelled failure.
    pub cancellation: CancellationToken,
    /// What the tool reported last.
    pub progress: LatestProgress,
}

impl StepScope {
    /// The scope of an attempt that a door makes with these options.
    #[must_use]
    pub fn new(
        run_id: RunId,
        options: &ActivityOptions,
        attempt: u32,
        cancellation: CancellationToken,
    ) -> Self {
        Self {
            run_id,
            step: options.step,
            agent: options.agent.clone(),
            attempt,
            timeout: options.start_to_close_timeout,
            effects: options.effects,
            cancellation,
            progress: LatestProgress::default(),
        }
    }

    /// The same for every attempt of one step, different for every other step: `run:turn:position`, or
    /// `run:scope/turn:position` where the [scope](StepId::scope) is not 0.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        format!("{}:{}", self.run_id, self.step)
    }
}
