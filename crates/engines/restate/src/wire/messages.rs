//! What travels between the services.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The workflow promise that a cancelled run finds resolved.
pub(crate) const CANCELLED: &str = "cancelled";

/// The state key that stands where a run has continued as new: its record says more than the workflow's state.
pub(crate) const CONTINUED: &str = "rolled_over";

/// The workflow promise of a run's n-th signal.
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

/// The input of the inbox's handler `put`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PutRequest {
    /// When the run started: it tells it from an earlier run of the same id.
    pub(crate) run: DateTime<Utc>,
    pub(crate) signal: Signal,
    /// The ticket that it decides: the inbox takes as many decisions of a ticket as it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ticket: Option<String>,
    /// How many decisions about the ticket the run has looked at that did not settle it.
    #[serde(default)]
    pub(crate) answered: u32,
    /// How many more the ticket needs.
    #[serde(default = "one")]
    pub(crate) missing: u32,
}

const fn one() -> u32 {
    1
}

/// A numbered signal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Delivery {
    pub(crate) seq: u64,
    pub(crate) signal: Signal,
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
