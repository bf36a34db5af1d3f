//! The result of a turn.

use std::time::Duration;

use neuron_types::{Message, millis};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{Effect, ExitReason, ToolCallRecord};

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnOutput {
    /// The answer of the run: the last one of the model, as its provider sent it, unless guards have withheld or
    /// replaced what it says since, or a tool's result is the answer. It is that text alone then. Without content if
    /// there is no answer.
    pub message: Message,
    /// Why the turn ended.
    pub exit_reason: ExitReason,
    /// What it took.
    pub metadata: TurnMetadata,
    /// What is to be done, in the order of the calls that asked for it. Where an effect was lost, since a guard changed the
    /// result that asked for it, an [`Effect::Log`] names the call in its place.
    pub effects: Vec<Effect>,
}

impl TurnOutput {
    /// Returns the text of the answer.
    #[must_use]
    pub fn text(&self) -> String {
        self.message.text()
    }
}

/// What a turn took: sums over all of its model calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnMetadata {
    /// Tokens of the prompts, cached parts included.
    pub tokens_in: u64,
    /// Tokens of the answers.
    pub tokens_out: u64,
    /// US dollars; `None` as soon as the cost of one call is not known.
    pub cost: Option<Decimal>,
    /// How long it took, by the clock of the run.
    #[serde(rename = "duration_ms", with = "millis")]
    pub duration: Duration,
    /// The tool calls that were made, in the order in which the model asked for them.
    pub tools_called: Vec<ToolCallRecord>,
}
