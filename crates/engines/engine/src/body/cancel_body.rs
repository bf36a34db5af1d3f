use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The body of a request to cancel a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelBody {
    /// Why the run is cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl CancelBody {
    /// Reads the payload of a signal. A payload that is not a reason counts as no reason: every payload cancels the run.
    #[must_use]
    pub fn of_signal(payload: &Value) -> Self {
        let reason = payload.get("reason").and_then(Value::as_str);
        Self {
            reason: reason.map(ToOwned::to_owned),
        }
    }
}
