//! The messages between the services.

use chrono::{DateTime, Utc};
use neuron_engine::CancelBody;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The signal to a run's invocation that cancels the run.
pub(crate) const CANCELLED: &str = "cancelled";

/// The state key of the invocation that the run is in first.
pub(crate) const AT: &str = "at";

/// The state key that is set if a run has continued as new: its record is newer than the workflow's state.
pub(crate) const CONTINUED: &str = "rolled_over";

/// Returns the name under which a run's invocation gets the run's n-th signal.
pub(crate) fn signal_key(seq: u64) -> String {
    format!("signal-{seq}")
}

/// A signal on its way to a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Signal {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) payload: Value,
    /// When it was accepted, or when another run sent it.
    pub(crate) at: DateTime<Utc>,
}

/// The run that a message is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Addressee {
    /// When it started, which distinguishes it from an earlier run of the same id.
    pub(crate) run: DateTime<Utc>,
    /// The invocation that it was in first.
    pub(crate) at: String,
}

/// The input of the inbox's handler `cancel`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CancelRequest {
    pub(crate) to: Addressee,
    pub(crate) body: CancelBody,
}

/// The input of the inbox's handler `attach`: signals are sent to this invocation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Attach {
    pub(crate) to: Addressee,
    /// How many signals the run had received when it continued in this invocation; `None` if it began in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) taken: Option<u64>,
}

/// The input of the inbox's handler `put`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PutRequest {
    pub(crate) to: Addressee,
    pub(crate) signal: Signal,
    /// The ticket that the signal decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ticket: Option<String>,
    /// How many decisions about the ticket the inbox accepts, including those that it accepted before: see
    /// [`most_decisions`](neuron_types::Ticket::most_decisions).
    #[serde(default = "one")]
    pub(crate) most: u32,
}

const fn one() -> u32 {
    1
}

/// The input of the handler `signal`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedSignal {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) payload: Value,
    /// Whether another run sends it: then it waits for a run that has yet to begin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) waits: bool,
}

impl NamedSignal {
    /// Returns a signal that another run sends.
    pub(crate) const fn of_run(name: String, payload: Value) -> Self {
        Self {
            name,
            payload,
            waits: true,
        }
    }
}

/// The input of the handler `events`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsAfter {
    /// Only events behind this number; 0 returns all.
    #[serde(default)]
    pub(crate) after: u64,
}

/// The answer of a handler that passes something on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Accepted {}
