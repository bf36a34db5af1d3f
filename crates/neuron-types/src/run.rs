//! A run: its id, its state and what it comes to.

use std::{fmt, str::FromStr};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{ApprovalTicket, FailureKind, InvalidRunId, TokenUsage};

/// Names a run, on every engine and in file names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

impl RunId {
    /// Takes a text as a run id.
    ///
    /// # Errors
    ///
    /// [`InvalidRunId`] unless it is 1 to 128 letters, digits, `.`, `_` and `-` that start with a letter
    /// or digit.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidRunId> {
        let id = id.into();
        let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        let fits = id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if starts_well && fits && id.len() <= 128 {
            Ok(Self(id))
        } else {
            Err(InvalidRunId(id))
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        Self::new(id)
    }
}

impl TryFrom<String> for RunId {
    type Error = InvalidRunId;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        Self::new(id)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0
    }
}

/// Where a run stands: the `state` of `--json` output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunPhase {
    /// A step is under way, or will be when a worker takes it up.
    Running,
    /// Nothing goes on until somebody decides about a ticket.
    WaitingForApproval,
    /// Nothing goes on until somebody sends a message.
    WaitingForInput,
    /// Nothing goes on until a time comes.
    Sleeping,
    /// It ended with an answer.
    Completed,
    /// It ended with an error.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// It ended at one of its limits.
    LimitReached,
}

impl RunPhase {
    /// Whether nothing more will happen.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Cancelled | Self::LimitReached
        )
    }

    /// Whether it is a person's turn.
    #[must_use]
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Self::WaitingForApproval | Self::WaitingForInput)
    }

    /// As it stands in `--json` output.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::WaitingForInput => "waiting_for_input",
            Self::Sleeping => "sleeping",
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
    /// Somebody cancelled it.
    Cancelled,
    /// A guardrail refused.
    Guardrail,
    /// A hook ended it.
    Terminated,
    /// The model or the provider's filter refused to answer.
    Refused,
    /// A step failed for good.
    Failed,
}

impl ExitReason {
    /// The phase of a run that ended like this.
    #[must_use]
    pub const fn phase(self) -> RunPhase {
        match self {
            Self::Complete => RunPhase::Completed,
            Self::MaxTurns
            | Self::MaxToolCalls
            | Self::MaxTokens
            | Self::MaxCost
            | Self::MaxDuration => RunPhase::LimitReached,
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
    pub approvals: Vec<ApprovalTicket>,
}

/// A message that a person queues while a run is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The text.
    pub text: String,
}

/// The signals that an agent run takes. Any other name is free for workflows of your own.
pub mod signal {
    /// A [`Decision`](crate::Decision) about a ticket.
    pub const DECISION: &str = "decision";
    /// A [`UserMessage`](crate::UserMessage), taken up at the next turn boundary.
    pub const USER_MESSAGE: &str = "user_message";
    /// Cancels the run; the payload may be `{"reason": "…"}`.
    pub const CANCEL: &str = "cancel";
}
