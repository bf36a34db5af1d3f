//! What travels between the services.

use chrono::{DateTime, Utc};
use neuron_engine::CancelBody;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The signal to a run's invocation that says that the run is cancelled.
pub(crate) const CANCELLED: &str = "cancelled";

/// The state key of the invocation that the run is in first.
pub(crate) const AT: &str = "at";

/// The state key that stands where a run has continued as new: its record says more than the workflow's state.
pub(crate) const CONTINUED: &str = "rolled_over";

/// The name under which a run's invocation gets the run's n-th signal.
pub(crate) fn signal_key(seq: u64) -> String {
    format!("signal-{seq}")
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

/// The run that something is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Addressee {
    /// When it started: it tells it from an earlier run of the same id.
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

/// The input of the inbox's handler `attach`: the run goes on in this invocation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Attach {
    pub(crate) to: Addressee,
    /// How many signals it has taken.
    pub(crate) taken: u64,
}

/// The input of the inbox's handler `put`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PutRequest {
    pub(crate) to: Addressee,
    pub(crate) signal: Signal,
    /// The ticket that it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ticket: Option<String>,
    /// How many decisions about the ticket the inbox takes, with those that it took before: see
    /// [`most_decisions`](neuron_types::Ticket::most_decisions).
    #[serde(default = "one")]
    pub(crate) most: u32,
}

const fn one() -> u32 {
    1
}

/// What `signal` takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedSignal {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) payload: Value,
    /// Another run sends it: it waits for a run that has yet to begin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) waits: bool,
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
