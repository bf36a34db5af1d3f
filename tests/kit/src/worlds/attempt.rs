//! What was asked of the world.

use std::time::{Duration, Instant};

use neuron_types::{StepId, ToolEffects};
use serde_json::Value;

/// One attempt at a model call or a tool call, as the world saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The run's name in its scenario. For a model call it is the name of the script.
    pub run: String,
    /// The step. Of a model call, its turn is the script's.
    pub step: StepId,
    /// `model`, or the tool's name.
    pub what: &'static str,
    /// What the tool does; a model call is idempotent.
    pub effects: ToolEffects,
    /// The idempotency key of a tool call.
    pub key: Option<String>,
    /// The arguments of a tool call.
    pub input: Value,
    /// The token that a deferred tool was handed.
    pub token: Option<String>,
    /// When it began.
    pub started: Instant,
    /// When and how it ended; `None` while it is under way.
    pub ended: Option<(Instant, Ending)>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With an answer, be it an error for the model.
    Answered,
    /// With a failure.
    Failed,
    /// Whoever made it did not wait for its end: it was cancelled, timed out, or its process died.
    Dropped,
}

impl Attempt {
    /// Whether it is an attempt at this step.
    #[must_use]
    pub fn is_at(&self, run: &str, turn: u32, position: u32) -> bool {
        self.run == run && self.step == StepId::new(turn, position)
    }

    /// Whether it ended like this.
    #[must_use]
    pub fn was(&self, ending: Ending) -> bool {
        self.ended.is_some_and(|(_, how)| how == ending)
    }

    /// How long it took.
    ///
    /// # Panics
    ///
    /// If it is under way.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.end() - self.started
    }

    /// When it ended.
    ///
    /// # Panics
    ///
    /// If it is under way.
    #[must_use]
    pub fn end(&self) -> Instant {
        self.ended.expect("the attempt has ended").0
    }
}
