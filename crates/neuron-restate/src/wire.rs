//! What travels between the services, and what they journal.

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, AgentSpec, Decision, RunEvent, RunId, StepFailure, ToolCall, Verdict,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::meter::Size;

/// The workflow promise that a cancelled run finds resolved.
pub(crate) const CANCELLED: &str = "cancelled";

/// The state key of the run's status.
pub(crate) const STATUS: &str = "status";

/// The state key that stands where a run has rolled over: its record says more than the workflow's state.
pub(crate) const ROLLED_OVER: &str = "rolled_over";

/// The workflow promise of a run's n-th signal.
pub(crate) fn signal_key(seq: u64) -> String {
    format!("signal-{seq}")
}

/// What one attempt came to, as it is journaled.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Attempted<T> {
    /// The executor's time when it ended.
    pub(crate) at: DateTime<Utc>,
    pub(crate) result: Result<T, StepFailure>,
    /// The run was cancelled while it was under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stop: Option<Stop>,
}

/// How a segment begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) at: DateTime<Utc>,
    /// How large its journal may get: as the worker had it that began it.
    pub(crate) most: Size,
}

/// Why a run is cancelled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stop {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// A tool call that the tool service makes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToolRequest {
    pub(crate) run_id: RunId,
    /// The agent as far as the tool's executor needs it.
    pub(crate) agent: AgentSpec,
    pub(crate) call: ToolCall,
    pub(crate) options: ActivityOptions,
    /// What the hooks have not been told yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<RunEvent>,
}

/// A signal on its way to a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Signal {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) payload: Value,
    /// When it was taken in.
    pub(crate) at: DateTime<Utc>,
}

/// What the inbox is asked to pass on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Put {
    pub(crate) signal: Signal,
    /// The ticket that it decides: the inbox takes one decision a ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ticket: Option<String>,
}

/// A numbered signal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) seq: u64,
    pub(crate) signal: Signal,
}

/// What `approve` and `deny` take.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    pub(crate) ticket: String,
    pub(crate) digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) args: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) comment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approver: Option<String>,
    #[serde(default)]
    pub(crate) remember: bool,
}

impl Answer {
    pub(crate) fn into_decision(self, verdict: Verdict) -> Decision {
        Decision {
            ticket: self.ticket,
            digest: self.digest,
            verdict,
            args: self.args,
            comment: self.comment,
            approver: self.approver,
            remember: self.remember,
        }
    }
}

/// What `signal` takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedSignal {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) payload: Value,
}

/// What `events` takes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsAfter {
    /// Only events behind this number; 0 gives all.
    #[serde(default)]
    pub(crate) after: u64,
}

/// What a handler answers that passes something on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Accepted {}
