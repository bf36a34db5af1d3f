//! What a run came to.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{ExitReason, RunError, RunId, RunPhase, Ticket, TokenUsage};

/// What `run`, `resume` and `wait` print.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOutput {
    /// The run.
    pub run_id: RunId,
    /// `local`, `temporal`, `restate`.
    pub engine: String,
    /// The agent's name.
    pub agent: String,
    /// Where it stands.
    pub state: RunPhase,
    /// Why it ended; `None` while it waits for a person.
    pub exit_reason: Option<ExitReason>,
    /// The model's last text.
    pub output: Option<String>,
    /// Model calls.
    pub turns: u32,
    /// Tokens of all model calls.
    pub usage: TokenUsage,
    /// Cost of all model calls in US dollars; `None` as soon as one of them is not known.
    pub cost_usd: Option<Decimal>,
    /// What it failed with.
    pub error: Option<RunError>,
    /// The tickets that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Ticket>,
}

impl RunOutput {
    /// Returns the model's last text, empty if it has said nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        self.output.as_deref().unwrap_or_default()
    }
}
