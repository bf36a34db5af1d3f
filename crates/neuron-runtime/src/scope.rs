//! What the executor is told about the attempt that it makes.

use std::time::Duration;

use neuron_types::{ActivityOptions, RunId, StepId, ToolEffects};
use tokio_util::sync::CancellationToken;

/// One attempt of one step: whose it is, how long it may take and what ends it early.
#[derive(Debug, Clone)]
pub struct StepScope {
    /// The run.
    pub run_id: RunId,
    /// The step.
    pub step: StepId,
    /// The attempt, counted from 1.
    pub attempt: u32,
    /// How long this attempt may take.
    pub timeout: Duration,
    /// What may be done if the attempt is lost: it decides what a timeout means.
    pub effects: ToolEffects,
    /// Ends the attempt with a cancelled failure.
    pub cancellation: CancellationToken,
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
            attempt,
            timeout: options.start_to_close_timeout,
            effects: options.effects,
            cancellation,
        }
    }

    /// The same for every attempt of one step, different for every other step: `run:turn:position`.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        let StepId { turn, position } = self.step;
        format!("{}:{turn}:{position}", self.run_id)
    }
}
