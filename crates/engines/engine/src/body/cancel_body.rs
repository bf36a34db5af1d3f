use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is sent to cancel a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelBody {
    /// Why the run is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CancelBody {
    /// Reads the payload of a signal: what is no reason is none, as a run is cancelled by whatever is sent.
    #[must_use]
    pub fn of_signal(payload: &Value) -> Self {
        let reason = payload.get("reason").and_then(Value::as_str);
        Self {
            reason: reason.map(ToOwned::to_owned),
        }
    }
}
