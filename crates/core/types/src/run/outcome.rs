//! Where a run stands, and how it ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::FailureKind;

/// Where a run stands: its `state` in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// A step is under way, or will be when a worker takes it up.
    Running,
    /// Nothing continues until a person decides about a ticket.
    WaitingForApproval,
    /// Nothing continues until a message is sent.
    WaitingForInput,
    /// Nothing continues until a time comes.
    Sleeping,
    /// No process executes the local run. A client of local runs reports this when it is asked: the status stands in no
    /// journal, and no run reports it of itself.
    Interrupted,
    /// It ended with an answer.
    Completed,
    /// It ended with an error.
    Failed,
    /// The run was cancelled.
    Cancelled,
    /// It ended at one of its limits.
    LimitReached,
}

impl RunPhase {
    /// Returns whether nothing more will happen.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Cancelled | Self::LimitReached
        )
    }

    /// Returns whether it is a person's turn.
    #[must_use]
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Self::WaitingForApproval | Self::WaitingForInput)
    }

    /// Returns the phase as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::WaitingForInput => "waiting_for_input",
            Self::Sleeping => "sleeping",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::LimitReached => "limit_reached",
        }
    }
}

impl fmt::Display for RunPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReason {
    /// The model was done.
    Complete,
    /// [`Limits::turns`](crate::Limits::turns).
    MaxTurns,
    /// [`Limits::tool_calls`](crate::Limits::tool_calls).
    MaxToolCalls,
    /// [`Limits::tokens`](crate::Limits::tokens), or the model's answer was cut at its output limit.
    MaxTokens,
    /// [`Limits::cost_usd`](crate::Limits::cost_usd).
    MaxCost,
    /// [`Limits::duration`](crate::Limits::duration).
    MaxDuration,
    /// [`Limits::deadline`](crate::Limits::deadline).
    Deadline,
    /// The run was cancelled.
    Cancelled,
    /// A guardrail blocked it.
    Guardrail,
    /// A hook ended it, or it was ended by the means of its engine: terminated or timed out on Temporal, killed on
    /// Restate.
    Terminated,
    /// The model or the provider's filter declined to answer.
    Refused,
    /// A step failed for good.
    Failed,
}

impl ExitReason {
    /// Returns the reason as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::MaxTurns => "max_turns",
            Self::MaxToolCalls => "max_tool_calls",
            Self::MaxTokens => "max_tokens",
            Self::MaxCost => "max_cost",
            Self::MaxDuration => "max_duration",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::Guardrail => "guardrail",
            Self::Terminated => "terminated",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    /// Returns whether a run that ended like this [failed](RunPhase::Failed).
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self.phase(), RunPhase::Failed)
    }

    /// The phase of a run that ended like this.
    #[must_use]
    pub const fn phase(self) -> RunPhase {
        match self {
            Self::Complete => RunPhase::Completed,
            Self::MaxTurns
            | Self::MaxToolCalls
            | Self::MaxTokens
            | Self::MaxCost
            | Self::MaxDuration
            | Self::Deadline => RunPhase::LimitReached,
            Self::Cancelled => RunPhase::Cancelled,
            Self::Guardrail | Self::Terminated | Self::Refused | Self::Failed => RunPhase::Failed,
        }
    }
}

/// What a run failed with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// Why.
    pub kind: FailureKind,
    /// A sentence for people.
    pub message: String,
}
