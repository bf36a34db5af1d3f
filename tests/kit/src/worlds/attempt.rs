//! The attempts that the world saw.

use std::time::{Duration, Instant};

use neuron_types::{StepId, ToolEffects};
use serde_json::Value;

/// One attempt at a model call or a tool call, as the world saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The run's name in its scenario. For a model call it is the name of the script.
    pub run: String,
    /// The step. For a model call, its turn is the script's.
    pub step: StepId,
    /// `model`, or the tool's name.
    pub what: &'static str,
    /// The effects of the tool; a model call is idempotent.
    pub effects: ToolEffects,
    /// The idempotency key of a tool call.
    pub key: Option<String>,
    /// The arguments of a tool call.
    pub input: Value,
    /// The token that a deferred tool was given.
    pub token: Option<String>,
    /// When the attempt began.
    pub started: Instant,
    /// When and how the attempt ended; `None` while it is in flight.
    pub ended: Option<(Instant, Ending)>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With an answer, or with an error for the model.
    Answered,
    /// With a failure.
    Failed,
    /// The caller did not wait for the end: the attempt was cancelled, timed out, or its process died.
    Dropped,
}

impl Attempt {
    /// Returns whether this is an attempt at the step.
    #[must_use]
    pub fn is_at(&self, run: &str, turn: u32, position: u32) -> bool {
        self.run == run && self.step == StepId::new(turn, position)
    }

    /// Returns whether the attempt ended like this.
    #[must_use]
    pub fn was(&self, ending: Ending) -> bool {
        self.ended.is_some_and(|(_, how)| how == ending)
    }

    /// Returns how long the attempt took.
    ///
    /// # Panics
    ///
    /// If the attempt is in flight.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.end() - self.started
    }

    /// Returns when the attempt ended.
    ///
    /// # Panics
    ///
    /// If the attempt is in flight.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.ended.expect("the attempt has ended").0
    }
}
