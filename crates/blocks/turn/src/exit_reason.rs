//! Why a turn ended that has an output.

use serde::{Deserialize, Serialize};

/// Why a turn ended that has an output. A turn that failed has a [`TurnError`](crate::TurnError).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExitReason {
    /// The model was done.
    Complete,
    /// [`TurnConfig::max_turns`](crate::TurnConfig::max_turns), or the agent's own limit.
    MaxTurns,
    /// The agent's own limit of tool calls.
    MaxToolCalls,
    /// The agent's own limit of tokens. An answer that was cut is an error.
    MaxTokens,
    /// [`TurnConfig::max_cost`](crate::TurnConfig::max_cost), or the agent's own limit.
    MaxCost,
    /// [`TurnConfig::max_duration`](crate::TurnConfig::max_duration), or the agent's own limit or deadline.
    MaxDuration,
    /// A hook halted the turn: at its exit check, or wherever else it was asked; or a guardrail did.
    ObserverHalt {
        /// What it said.
        reason: String,
    },
    /// The turn was cancelled.
    Cancelled {
        /// What was said about it.
        reason: Option<String>,
    },
}
